use super::*;

const LB: &str =
    r#"[{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/lb"}]"#;
const VM_NIC: &str = r#"[{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces/nic"}]"#;
const SCALE_SET: &str =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/set";

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn files_are_told_by_their_content_whatever_they_are_called() {
    let instance = format!(r#"[{{"id": "{SCALE_SET}/virtualMachines/0/networkInterfaces/nic"}}]"#);
    let arm = format!(r#"{{"value": [{{"id": "{SCALE_SET}", "properties": {{}}}}]}}"#);
    let kubectl = r#"{"kind": "List", "items": [
        {"kind": "Node", "metadata": {"name": "a"}}, {"kind": "Service", "metadata": {"name": "b"}}]}"#;
    let folder = folder(&[
        ("1.json", LB),
        ("2.json", VM_NIC),
        ("3.json", &instance),
        ("4.json", &arm),
        ("5.json", kubectl),
        ("notes.txt", "not read"),
    ]);
    let inventory = read(folder.path()).unwrap();
    assert_eq!(inventory.load_balancers.as_ref().unwrap().len(), 1);
    assert_eq!(inventory.nics.as_ref().unwrap().len(), 1);
    assert_eq!(inventory.instance_nics.as_ref().unwrap().len(), 1);
    assert_eq!(inventory.scale_sets.as_ref().unwrap().len(), 1);
    assert_eq!(inventory.nodes.as_ref().unwrap()[0].metadata.name, "a");
    assert_eq!(inventory.services.as_ref().unwrap()[0].metadata.name, "b");
    assert_eq!(
        inventory.missing(),
        [
            Listing::Networks,
            Listing::NatGateways,
            Listing::PublicAddresses,
            Listing::RouteTables,
            Listing::Vms,
        ]
    );
}

#[test]
fn an_empty_list_is_told_by_its_name_and_is_not_a_missing_one() {
    let inventory =
        read(folder(&[("nat-gateway.json", "[]"), ("vmss-nic-1.json", " [] ")]).path()).unwrap();
    assert_eq!(inventory.nat_gateways, Some(Vec::new()));
    assert_eq!(inventory.instance_nics, Some(Vec::new()));
    assert!(inventory.scale_sets.is_none());
}

#[test]
fn several_files_are_joined_and_nothing_is_kept_twice() {
    let other = LB.replace("/lb", "/other");
    let same = LB.replace("/lb", "/LB");
    let folder = folder(&[
        ("lb-1.json", LB),
        ("lb-2.json", &other),
        ("lb-3.json", &same),
    ]);
    assert_eq!(
        read(folder.path()).unwrap().load_balancers.unwrap().len(),
        2
    );
}

#[test]
fn what_is_wrong_with_a_folder_is_said_with_the_file() {
    for (name, text, wanted) in [
        ("lb.json", "[{", "lb.json: EOF while parsing"),
        (
            "lb.json",
            r#"[{"id": 1}]"#,
            "lb.json: invalid type: integer",
        ),
        ("x.json", "[]", "x.json: found an empty list"),
        (
            "x.json",
            r#"[{"id": "/a/Microsoft.Storage/storageAccounts/b"}]"#,
            "storageAccounts",
        ),
        (
            "nic.json",
            r#"[{"id": "/networkInterfaces/n", "ipConfigurations": 1}]"#,
            "az network nic list",
        ),
    ] {
        let error = read(folder(&[(name, text)]).path())
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    let empty = folder(&[]);
    let error = read(empty.path()).unwrap_err().to_string();
    assert!(error.contains("lb.json, nic.json"), "{error}");
    let absent = read(&empty.path().join("absent")).unwrap_err();
    assert!(matches!(absent, FolderError::Read { .. }));
}
