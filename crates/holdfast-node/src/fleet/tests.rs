use super::*;

#[test]
fn what_is_shown_and_what_is_left_make_the_fleet() {
    let list = |left, goes_on: Option<&str>| ListMeta {
        remaining_item_count: left,
        continue_: goes_on.map(str::to_owned),
        ..ListMeta::default()
    };
    let cases = [
        (1, list(Some(4999), Some("more")), Some(5000)),
        (1, list(None, None), Some(1)),
        (1, list(None, Some("")), Some(1)),
        (0, list(None, None), Some(0)),
        // A server that ignores the limit shows all of them.
        (300, list(None, None), Some(300)),
        (1, list(None, Some("more")), None),
        (1, list(Some(-1), Some("more")), None),
    ];
    for (shown, list, expected) in cases {
        assert_eq!(total(shown, &list), expected, "{shown} {list:?}");
    }
}
