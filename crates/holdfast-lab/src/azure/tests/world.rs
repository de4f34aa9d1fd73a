//! A service with a few resources, and requests to it.

#![expect(
    clippy::needless_pass_by_value,
    reason = "bodies are written where they are passed"
)]

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use crate::azure::{Answer, Arm, Request, Secrets, Settings};

pub(super) const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000001";
pub(super) const GROUP: &str =
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g";
pub(super) const LATENCY: Duration = Duration::from_secs(2);

/// A service and its time.
pub(super) struct World {
    pub(super) arm: Arm,
    pub(super) now: Duration,
}

pub(super) fn settings() -> Settings {
    Settings {
        subscription: SUBSCRIPTION.to_owned(),
        latency: LATENCY,
        page: 100,
        limits: None,
        secrets: Secrets {
            token: Some("good".to_owned()),
            client_secret: Some("secret".to_owned()),
        },
    }
}

pub(super) fn network(name: &str) -> String {
    format!("{GROUP}/providers/Microsoft.Network/{name}")
}

pub(super) fn compute(name: &str) -> String {
    format!("{GROUP}/providers/Microsoft.Compute/{name}")
}

pub(super) fn request(method: Method, path: &str, body: &Value) -> Request {
    let (path, query) = path
        .split_once('?')
        .unwrap_or((path, "api-version=2024-05-01"));
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer good"));
    Request {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        base: "https://arm.lab.test".to_owned(),
        headers,
        body: body.to_string().into_bytes(),
    }
}

impl World {
    /// With a group and nothing in it.
    pub(super) fn empty() -> Self {
        Self::with(settings())
    }

    pub(super) fn with(settings: Settings) -> Self {
        let mut world = Self {
            arm: Arm::new(settings),
            now: Duration::ZERO,
        };
        world.put(GROUP, json!({"location": "westeurope"}));
        world
    }

    /// With a network, a public and an internal load balancer, and one VM in both.
    pub(super) fn usual() -> Self {
        let mut world = Self::empty();
        world.made(
            "virtualNetworks/vnet",
            json!({"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
            "subnets": [{"name": "nodes", "properties": {"addressPrefix": "10.0.1.0/24"}}]}),
        );
        world.made(
            "publicIPAddresses/front",
            json!({"publicIPAllocationMethod": "Static"}),
        );
        world.made("loadBalancers/public", public_balancer());
        world.made(
            "loadBalancers/internal",
            json!({
            "frontendIPConfigurations": [{"name": "f", "properties": {"subnet": subnet()}}],
            "backendAddressPools": [{"name": "nodes"}]}),
        );
        world.made(
            "networkInterfaces/nic",
            nic(&["public/nodes", "internal/nodes"]),
        );
        world.put(
            &compute("virtualMachines/vm"),
            json!({"location": "westeurope", "properties": {
            "networkProfile": {"networkInterfaces": [{"id": network("networkInterfaces/nic")}]}}}),
        );
        world.wait();
        world
    }

    pub(super) fn ask(&mut self, method: Method, path: &str, body: &Value) -> Answer {
        self.arm.answer(self.now, &request(method, path, body))
    }

    pub(super) fn ask_if(
        &mut self,
        method: Method,
        path: &str,
        body: &Value,
        header: &'static str,
        value: &str,
    ) -> Answer {
        let mut request = request(method, path, body);
        let value = HeaderValue::from_str(value).unwrap();
        request
            .headers
            .insert(HeaderName::from_static(header), value);
        self.arm.answer(self.now, &request)
    }

    /// Lets operations end.
    pub(super) fn wait(&mut self) {
        self.now += LATENCY;
        self.arm.settle(self.now);
    }

    pub(super) fn get(&mut self, path: &str) -> Value {
        let answer = self.ask(Method::GET, path, &Value::Null);
        assert_eq!(answer.status, StatusCode::OK, "{path}: {:?}", answer.body);
        answer.body.unwrap()
    }

    /// Writes and expects that it is taken.
    pub(super) fn put(&mut self, path: &str, body: Value) -> Answer {
        let answer = self.ask(Method::PUT, path, &body);
        assert!(answer.status.is_success(), "{path}: {:?}", answer.body);
        answer
    }

    /// Makes a network resource of the Standard SKU, and waits until it is there.
    pub(super) fn made(&mut self, name: &str, properties: Value) {
        let body = json!({"location": "westeurope", "sku": {"name": "Standard"}, "properties": properties});
        self.put(&network(name), body);
        self.wait();
    }

    /// The path of the only VM.
    pub(super) fn path(&self) -> String {
        let exits = self.arm.exits();
        let [exit] = exits.as_slice() else {
            panic!("{exits:?}");
        };
        exit.path.unwrap().to_string()
    }
}

pub(super) fn to(id: String) -> Value {
    json!({"id": id})
}

pub(super) fn subnet() -> Value {
    to(network("virtualNetworks/vnet/subnets/nodes"))
}

pub(super) fn pool(name: &str) -> Value {
    let name = name.replace('/', "/backendAddressPools/");
    to(network(&format!("loadBalancers/{name}")))
}

pub(super) fn public_balancer() -> Value {
    let frontend = to(network("loadBalancers/public/frontendIPConfigurations/f"));
    json!({
        "frontendIPConfigurations": [{"name": "f", "properties": {"publicIPAddress": to(network("publicIPAddresses/front"))}}],
        "backendAddressPools": [{"name": "nodes"}],
        "loadBalancingRules": [{"name": "https", "properties": {"protocol": "Tcp", "frontendPort": 443, "backendPort": 443,
            "frontendIPConfiguration": frontend, "backendAddressPool": pool("public/nodes")}}],
    })
}

pub(super) fn nic(pools: &[&str]) -> Value {
    let pools: Vec<_> = pools.iter().map(|name| pool(name)).collect();
    json!({"ipConfigurations": [{"name": "first", "properties": {"primary": true, "subnet": subnet(),
        "loadBalancerBackendAddressPools": pools}}]})
}

pub(super) fn code(answer: &Answer) -> (u16, String) {
    let code = answer
        .body
        .as_ref()
        .and_then(|it| it.pointer("/error/code"));
    let code = code.and_then(Value::as_str).unwrap_or_default().to_owned();
    (answer.status.as_u16(), code)
}

pub(super) fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    let found = answer.headers.iter().find(|(own, _)| *own == name);
    found.map(|(_, value)| value.as_str()).unwrap_or_default()
}
