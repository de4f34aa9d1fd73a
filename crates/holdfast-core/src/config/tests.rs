use super::*;

fn yaml(text: &str) -> Result<Config, String> {
    let raw: RawConfig = serde_saphyr::from_str(text).map_err(|e| e.to_string())?;
    Config::parse(raw).map_err(|e| e.to_string())
}

const LEAST: &str = "endpoint: https://api.example.com:6443\nca: /ca.crt\n";

fn with(more: &str) -> Result<Config, String> {
    yaml(&format!("{LEAST}{more}"))
}

#[test]
fn the_least_is_an_endpoint_and_a_ca() {
    let config = yaml(LEAST).unwrap();
    assert_eq!(config.server_name, "api.example.com");
    assert_eq!(config.listen.len(), 2);
    assert_eq!(config.admin.to_string(), "127.0.0.1:6446");
    assert_eq!(config.endpoint.to_string(), "https://api.example.com:6443");
}

#[test]
fn an_address_as_endpoint_is_its_own_seed() {
    let config = yaml("endpoint: https://[fd00::1]:6443/\nca: /ca.crt\n").unwrap();
    assert_eq!(config.seeds, ["[fd00::1]:6443".parse().unwrap()]);
    assert_eq!(config.server_name, "fd00::1");
}

#[test]
fn each_wrong_field_is_named_with_what_was_found_and_what_is_accepted() {
    let cases = [
        ("ca: /ca.crt", "endpoint: found nothing"),
        ("endpoint: https://a.b:1", "ca: found nothing"),
        ("endpoint: http://a.b:6443\nca: c", "scheme http;"),
        ("endpoint: a.b:6443\nca: c", "no scheme"),
        ("endpoint: https://a.b\nca: c", "no port"),
        ("endpoint: https://10.0.0.1\nca: c", "no port"),
        ("endpoint: https://a.b:0\nca: c", "1 to 65535"),
        ("endpoint: https://a.b:99999\nca: c", "1 to 65535"),
        ("endpoint: https://a.b:6443/api\nca: c", "more than a host"),
        ("endpoint: https://me@a.b:6443\nca: c", "more than a host"),
        ("endpoint: https://a..b:6443\nca: c", "no DNS name"),
        ("endpoint: https://127.0.0.1:6445\nca: c", "own listener"),
        ("endpoint: https://127.0.0.9:6445\nca: c", "own listener"),
        (
            "endpoint: https://[::ffff:127.0.0.1]:6445\nca: c",
            "own listener",
        ),
    ];
    for (text, expected) in cases {
        let error = yaml(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(error.contains("accepted: "), "{error}");
    }
    let cases = [
        ("listen: [0.0.0.0:6445]", "listen: found 0.0.0.0:6445"),
        ("listen: []", "listen: found an empty list"),
        ("listen: [localhost]", "listen: found \"localhost\""),
        ("admin: 10.0.0.1:6446", "admin: found 10.0.0.1:6446"),
        (
            "admin: 127.0.0.1:6445",
            "admin: found 127.0.0.1:6445, which is in listen too",
        ),
        (
            "seeds: [127.0.0.1:6445]",
            "seeds: found 127.0.0.1:6445, this agent's own listener",
        ),
        ("seeds: [10.0.0.1]", "seeds: found \"10.0.0.1\""),
        ("dns: {servers: [ns1]}", "dns.servers: found \"ns1\""),
        (
            "dns: {expireAfterAnswers: 0}",
            "dns.expireAfterAnswers: found 0",
        ),
        (
            "dns: {longestLifetime: 0s}",
            "dns.longestLifetime: found 0ns",
        ),
        (
            "dns: {shortestLifetime: 30s, longestLifetime: 10s}",
            "above dns.longestLifetime",
        ),
        ("probe: {budget: 0}", "probe.budget: found 0"),
        ("fleet: {nodes: 0}", "fleet.nodes: found 0"),
        (
            "limits: {gracePeriod: 1ms}",
            "limits.gracePeriod: found 1ms",
        ),
        ("local: here", "local: found \"here\""),
        ("probe: {interval: 1ms}", "probe.interval: found 1ms"),
        ("probe: {patience: 1h}", "probe.patience: found 3600s"),
        ("drain: {timeout: 0s}", "drain.timeout: found 0ns"),
        ("limits: {cuts: 0}", "limits.cuts: found 0"),
        ("shutdown: {timeout: 1h}", "shutdown.timeout: found 3600s"),
    ];
    for (more, expected) in cases {
        let error = with(more).unwrap_err();
        assert!(
            error.starts_with(expected) || error.contains(expected),
            "{more}: {error}"
        );
        assert!(error.contains("accepted: "), "{error}");
    }
}

#[test]
fn unknown_fields_and_wrong_units_are_shown_where_they_stand() {
    let error = with("prob: {interval: 1s}").unwrap_err();
    assert!(
        error.contains("line 3") && error.contains("prob"),
        "{error}"
    );
    let error = with("probe:\n  intervall: 1s").unwrap_err();
    assert!(
        error.contains("line 4") && error.contains("intervall"),
        "{error}"
    );
    let error = with("probe:\n  interval: 10 parsecs").unwrap_err();
    assert!(error.contains("line 4"), "{error}");
    let error = with("probe:\n  interval: 500").unwrap_err();
    assert!(error.contains("line 4"), "{error}");
    let error = with("seeds: []\nseeds: []").unwrap_err();
    assert!(error.contains("duplicate"), "{error}");
}

#[test]
fn what_is_rendered_is_read_back() {
    let raw = RawConfig {
        endpoint: Some("https://a.b:6443".to_owned()),
        ..RawConfig::default()
    };
    let text = serde_saphyr::to_string(&raw).unwrap();
    assert_eq!(serde_saphyr::from_str::<RawConfig>(&text).unwrap(), raw);
}
