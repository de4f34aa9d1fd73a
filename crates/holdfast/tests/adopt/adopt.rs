//! `holdfast adopt` and `holdfast release` on kubeconfigs of every kind, while clients use them.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use holdfast_core::adoption::{Adoption, AdoptionOutcome, Adoptions};
use rustix::process::Signal;

use crate::desk::Desk;
use crate::stage::{Done, holdfast, run, skipped};

fn outcomes(done: &Done) -> Vec<AdoptionOutcome> {
    reports(done).iter().map(|report| report.outcome).collect()
}

fn reports(done: &Done) -> Vec<Adoption> {
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let adoptions: Adoptions = serde_json::from_str(&done.out).unwrap();
    adoptions.kubeconfigs
}

#[test]
fn case_29_twenty_rounds_of_adopt_and_release_cost_a_client_nothing() {
    let desk = Desk::new();
    let path = desk.kubeconfig("token", "token: none");
    let before = fs::read(&path).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let client = {
        let (stop, path) = (Arc::clone(&stop), path.clone());
        thread::spawn(move || {
            let (mut ways, mut failed) = ([0u32; 2], Vec::new());
            while !stop.load(Ordering::Relaxed) {
                let through = fs::read_to_string(&path)
                    .unwrap()
                    .contains("tls-server-name");
                match Desk::put(&path) {
                    Ok(()) => ways[usize::from(through)] += 1,
                    Err(error) => failed.push(error),
                }
            }
            (ways, failed)
        })
    };
    for round in 0..20 {
        assert_eq!(
            outcomes(&desk.adopt(&[&path])),
            [AdoptionOutcome::Adopted],
            "{round}"
        );
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.contains(&format!("server: https://{}", desk.agent.listen)),
            "{text}"
        );
        assert_eq!(
            outcomes(&desk.release(&[&path])),
            [AdoptionOutcome::Released],
            "{round}"
        );
        assert_eq!(fs::read(&path).unwrap(), before, "{round}");
    }
    stop.store(true, Ordering::Relaxed);
    let (ways, failed) = client.join().unwrap();
    assert_eq!(failed, [] as [String; 0]);
    assert!(
        ways.iter().all(|puts| *puts >= 10),
        "both ways were used: {ways:?}"
    );
    assert_eq!(desk.companions(&path), 0);
}

#[test]
fn every_kind_of_kubeconfig_goes_through_the_agent_and_comes_back_to_the_byte() {
    let desk = Desk::new();
    let kinds = desk.kinds();
    assert_eq!(kinds.len(), 7);
    for path in kinds {
        let before = fs::read(&path).unwrap();
        let (mode, owner) = {
            let metadata = fs::metadata(&path).unwrap();
            (metadata.mode(), (metadata.uid(), metadata.gid()))
        };
        Desk::put(&path).unwrap();
        let report = &reports(&desk.adopt(&[&path]))[0];
        assert_eq!(report.outcome, AdoptionOutcome::Adopted, "{report:?}");
        assert_eq!(report.server, format!("https://{}", desk.agent.listen));
        assert_eq!(report.evidence.len(), 2, "{report:?}");
        Desk::put(&path).unwrap();
        let metadata = fs::metadata(&path).unwrap();
        assert_eq!(metadata.mode(), mode, "{}", path.display());
        assert_eq!((metadata.uid(), metadata.gid()), owner);
        for companion in [".holdfast", ".before-holdfast"] {
            let companion = format!("{}{companion}", path.display());
            assert_eq!(
                fs::metadata(companion).unwrap().mode(),
                mode,
                "as secret as the file"
            );
        }
        assert_eq!(
            outcomes(&desk.release(&[&path])),
            [AdoptionOutcome::Released]
        );
        assert_eq!(fs::read(&path).unwrap(), before, "{}", path.display());
    }
}

#[test]
fn a_second_adoption_and_a_second_release_change_nothing() {
    let desk = Desk::new();
    let path = desk.kubeconfig("twice", "token: none");
    desk.adopt(&[&path]);
    let adopted = fs::read(&path).unwrap();
    assert_eq!(
        outcomes(&desk.adopt(&[&path])),
        [AdoptionOutcome::AlreadyAdopted]
    );
    assert_eq!(fs::read(&path).unwrap(), adopted);
    assert_eq!(
        outcomes(&desk.release(&[&path])),
        [AdoptionOutcome::Released]
    );
    let again = desk.release(&[&path]);
    assert_eq!(again.code, Some(3));
    assert!(
        again.err.contains("no record of an adoption"),
        "{}",
        again.err
    );
}

#[test]
fn a_dry_run_verifies_and_touches_nothing() {
    let desk = Desk::new();
    let path = desk.kubeconfig("dry", "token: s3cret");
    let before = fs::read(&path).unwrap();
    let mut command = desk.command("adopt", &[&path]);
    let dry = run(command.arg("--dry-run"));
    assert_eq!(dry.code, Some(0), "{}", dry.err);
    assert!(dry.out.contains("would be adopted"), "{}", dry.out);
    for line in [
        format!("  - server: {}", desk.server()),
        format!("  + server: https://{}", desk.agent.listen),
        "  + tls-server-name: 127.0.0.2".to_owned(),
    ] {
        assert!(
            dry.out.lines().any(|found| found == line),
            "{line}: {}",
            dry.out
        );
    }
    assert!(!dry.out.contains("s3cret"));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(desk.companions(&path), 0);
    desk.adopt(&[&path]);
    let adopted = fs::read(&path).unwrap();
    let dry = run(desk.command("release", &[&path]).arg("--dry-run"));
    assert!(dry.out.contains("would be released"), "{}", dry.out);
    assert_eq!(fs::read(&path).unwrap(), adopted);
}

#[test]
fn what_must_be_restarted_is_said() {
    let desk = Desk::new();
    let path = desk.kubeconfig("told", "token: none");
    let told = run(&mut desk.command("adopt", &[&path]));
    assert!(
        told.out.contains("systemctl restart kubelet"),
        "{}",
        told.out
    );
    assert!(told.out.contains("kube-proxy"), "{}", told.out);
    let nothing = run(&mut desk.command("adopt", &[&path]));
    assert!(!nothing.out.contains("restart"), "{}", nothing.out);
}

#[test]
fn what_somebody_else_changed_since_is_kept_at_release() {
    let desk = Desk::new();
    let path = desk.kubeconfig("changed", "token: one");
    let before = fs::read_to_string(&path).unwrap();
    desk.adopt(&[&path]);
    let theirs = fs::read_to_string(&path)
        .unwrap()
        .replace("token: one", "token: two");
    fs::write(&path, theirs).unwrap();
    assert_eq!(
        outcomes(&desk.release(&[&path])),
        [AdoptionOutcome::FieldsReleased]
    );
    let after = fs::read_to_string(&path).unwrap();
    assert_eq!(after, before.replace("token: one", "token: two"));
}

#[test]
fn a_file_that_leads_elsewhere_now_is_not_released() {
    let desk = Desk::new();
    let path = desk.kubeconfig("elsewhere", "token: one");
    desk.adopt(&[&path]);
    let listen = desk.agent.listen.to_string();
    let theirs = fs::read_to_string(&path)
        .unwrap()
        .replace(&listen, "192.0.2.1:6443");
    fs::write(&path, &theirs).unwrap();
    let refused = desk.release(&[&path]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .err
            .contains("another server than the one that was adopted")
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
}

#[test]
fn s7_release_works_with_the_agent_gone_for_good() {
    let mut desk = Desk::new();
    let path = desk.kubeconfig("gone", "token: none");
    let second = desk.kubeconfig("gone-too", "token: none");
    let before = fs::read(&path).unwrap();
    desk.adopt(&[&path, &second]);
    desk.agent.process.signal(Signal::KILL);
    desk.agent.ends();
    assert_eq!(
        outcomes(&desk.release(&[&path])),
        [AdoptionOutcome::Released]
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    Desk::put(&path).unwrap();
    // The servers may be gone as well.
    for server in &desk.cluster.servers {
        server.process.signal(Signal::KILL);
    }
    let report = &reports(&desk.release(&[&second]))[0];
    assert_eq!(report.outcome, AdoptionOutcome::Released);
    assert!(report.evidence[0].contains("does not answer"), "{report:?}");
    assert_eq!(fs::read(&second).unwrap(), before);
}

#[test]
fn a_way_that_works_is_not_left_for_one_that_does_not() {
    let mut desk = Desk::new();
    let path = desk.kubeconfig("worse", "token: none");
    let before = fs::read(&path).unwrap();
    desk.adopt(&[&path]);
    let adopted = fs::read(&path).unwrap();
    desk.cluster.server("cp1").process.signal(Signal::KILL);
    let refused = desk.release(&[&path]);
    assert_eq!(refused.code, Some(4), "{}", refused.err);
    assert!(
        refused.err.contains("would cut this node off"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(fs::read(&path).unwrap(), adopted);
    Desk::put(&path).unwrap();
    let forced = run(desk.command("release", &[&path]).arg("--force"));
    assert_eq!(forced.code, Some(0), "{}", forced.err);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_does_not_work_once_written_is_put_back_and_all_before_it_too() {
    let desk = Desk::new();
    let good = desk.kubeconfig("good", "token: none");
    // A plug-in that works once: to prove the way, but not through the written file.
    let once = desk.plugin("once", "[ ! -e \"$0.ran\" ] || exit 1; touch \"$0.ran\"");
    let bad = desk.kubeconfig("bad", &once);
    let before = [fs::read(&good).unwrap(), fs::read(&bad).unwrap()];
    let failed = desk.adopt(&[&good, &bad]);
    assert_eq!(failed.code, Some(3), "{}", failed.out);
    assert!(failed.err.contains("is not proved"), "{}", failed.err);
    assert_eq!(fs::read(&good).unwrap(), before[0]);
    assert_eq!(fs::read(&bad).unwrap(), before[1]);
    for path in [&good, &bad] {
        assert_eq!(desk.companions(path), 0);
    }
}

#[test]
fn a_second_kubeconfig_that_can_not_be_released_does_not_hide_the_first() {
    let desk = Desk::new();
    let first = desk.kubeconfig("first", "token: none");
    let never = desk.kubeconfig("never", "token: none");
    desk.adopt(&[&first]);
    let done = desk.release(&[&first, &never]);
    assert_eq!(done.code, Some(3));
    let told: Adoptions = serde_json::from_str(&done.out).unwrap();
    assert_eq!(told.kubeconfigs[0].outcome, AdoptionOutcome::Released);
    assert!(
        done.err.contains("no record of an adoption"),
        "{}",
        done.err
    );
}

#[test]
fn an_adoption_that_fails_over_an_older_one_leaves_the_older_one() {
    let desk = Desk::new();
    // Works for the first adoption, which asks twice, and once more for the proof of the second.
    let thrice = desk.plugin(
        "thrice",
        "echo >> \"$0.ran\"; [ $(wc -l < \"$0.ran\") -le 3 ] || exit 1",
    );
    let path = desk.kubeconfig("older", &thrice);
    let before = fs::read(&path).unwrap();
    assert_eq!(outcomes(&desk.adopt(&[&path])), [AdoptionOutcome::Adopted]);
    let adopted = fs::read(&path).unwrap();
    let second = desk.cluster.agent();
    let listener = second.listen.to_string();
    let failed = run(desk
        .command("adopt", &[&path])
        .args(["--listener", &listener]));
    assert_eq!(failed.code, Some(3), "{}{}", failed.out, failed.err);
    assert_eq!(fs::read(&path).unwrap(), adopted);
    assert_eq!(desk.release(&[&path]).code, Some(0));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn another_listener_is_adopted_over_the_old_one_and_released_to_the_first_server() {
    let desk = Desk::new();
    let path = desk.kubeconfig("moved", "token: none");
    let before = fs::read(&path).unwrap();
    desk.adopt(&[&path]);
    let second = desk.cluster.agent();
    let listener = second.listen.to_string();
    let moved = run(desk
        .command("adopt", &[&path])
        .args(["--listener", &listener]));
    assert_eq!(moved.code, Some(0), "{}", moved.err);
    assert!(fs::read_to_string(&path).unwrap().contains(&listener));
    assert_eq!(
        outcomes(&desk.release(&[&path])),
        [AdoptionOutcome::Released]
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_link_stays_and_its_file_is_adopted() {
    let desk = Desk::new();
    let path = desk.kubeconfig("real", "token: none");
    let link = path.with_file_name("link");
    symlink(&path, &link).unwrap();
    let report = &reports(&desk.adopt(&[&link]))[0];
    assert_eq!(
        report.kubeconfig,
        fs::canonicalize(&path).unwrap().display().to_string()
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(
        outcomes(&desk.release(&[&path])),
        [AdoptionOutcome::Released]
    );
}

#[test]
fn one_that_leads_here_by_somebody_elses_hand_is_left_alone() {
    let desk = Desk::new();
    let path = desk.kubeconfig("by-hand", "token: none");
    let theirs = fs::read_to_string(&path)
        .unwrap()
        .replace(&desk.server(), &format!("https://{}", desk.agent.listen));
    fs::write(&path, &theirs).unwrap();
    let report = &reports(&desk.adopt(&[&path]))[0];
    assert_eq!(report.outcome, AdoptionOutcome::AlreadyAdopted);
    assert!(
        report.evidence[1].contains("nothing was written down"),
        "{report:?}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
    assert_eq!(desk.companions(&path), 0);
}

#[test]
fn bad_input_gets_one_clear_error_and_changes_nothing() {
    let desk = Desk::new();
    let good = fs::read_to_string(desk.kubeconfig("base", "token: s3cret")).unwrap();
    let other = desk.other_ca();
    let ca = desk.cluster.certificates.ca.display().to_string();
    let cases = [
        ("no-yaml", "clusters: [ s3cret".to_owned(), 2, "line 1"),
        (
            "no-context",
            good.replace("current-context: lab", ""),
            2,
            "current-context: found nothing",
        ),
        (
            "no-ca",
            good.replace("certificate-authority", "x-other"),
            2,
            "certificate-authority",
        ),
        ("other-ca", good.replace(&ca, &other), 3, "is not proved"),
        (
            "other-name",
            good.replace("server:", "tls-server-name: x.test\n    server:"),
            3,
            "x.test",
        ),
        (
            "proxy",
            good.replace("server:", "proxy-url: socks5://s3cret@h:1\n    server:"),
            2,
            "proxy-url",
        ),
        (
            "insecure",
            good.replace("server:", "insecure-skip-tls-verify: true\n    server:"),
            2,
            "insecure-skip-tls-verify",
        ),
        (
            "no-user",
            good.replace("user: lab}", "user: nobody}"),
            2,
            "\"nobody\", which is not in users",
        ),
    ];
    for (name, text, code, expected) in cases {
        let path = desk.file(name, &text);
        let done = desk.adopt(&[&path]);
        assert_eq!(done.code, Some(code), "{name}: {}", done.err);
        assert!(done.err.contains(expected), "{name}: {}", done.err);
        assert!(
            done.err.contains(&path.display().to_string()),
            "{name}: {}",
            done.err
        );
        assert!(
            !done.err.contains("s3cret") && done.out.is_empty(),
            "{name}: {}",
            done.err
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(desk.companions(&path), 0, "{name}");
    }
    let missing = desk.adopt(&[&desk.folder().join("nowhere")]);
    assert_eq!(missing.code, Some(2), "{}", missing.err);
    assert!(
        missing.err.contains("nowhere: No such file"),
        "{}",
        missing.err
    );
    let none = run(holdfast().arg("adopt"));
    assert_eq!(none.code, Some(2));
}

#[test]
fn files_that_must_not_be_written_are_told_before_anybody_is_asked() {
    let desk = Desk::new();
    let path = desk.kubeconfig("locked", "token: none");
    let before = fs::read(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let refused = desk.adopt(&[&path]);
    assert_eq!(refused.code, Some(3));
    assert!(
        refused.err.contains("marked as read-only (mode 0444)"),
        "{}",
        refused.err
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();

    // A folder that nobody may write, root included: a read-only mount, seen by this process alone.
    let folder = desk.folder().display().to_string();
    let script = format!(
        "mount --bind {folder} {folder} && mount -o remount,bind,ro {folder} && exec \"$@\""
    );
    let mut inside = Command::new("unshare");
    inside.args(["--mount", "--map-root-user", "sh", "-c", &script, "sh"]);
    let mut probe = Command::new(inside.get_program());
    let possible = run(probe.args(inside.get_args()).arg("true"));
    if possible.code != Some(0) {
        return skipped(&format!("no mount namespaces here: {}", possible.err));
    }
    let adopt = desk.command("adopt", &[&path]);
    let refused = run(inside
        .arg(adopt.get_program())
        .args(adopt.get_args())
        .env("NO_COLOR", "1"));
    assert_eq!(refused.code, Some(3), "{}", refused.out);
    assert!(
        refused.err.contains("Read-only file system"),
        "{}",
        refused.err
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn without_an_agent_nothing_is_changed() {
    let mut desk = Desk::new();
    let path = desk.kubeconfig("alone", "token: none");
    let before = fs::read(&path).unwrap();
    desk.agent.process.signal(Signal::KILL);
    desk.agent.ends();
    let refused = desk.adopt(&[&path]);
    assert_eq!(refused.code, Some(3));
    assert!(
        refused.err.contains("hint: is the agent running"),
        "{}",
        refused.err
    );
    let listener = desk.agent.listen.to_string();
    let refused = run(desk
        .command("adopt", &[&path])
        .args(["--listener", &listener]));
    assert_eq!(refused.code, Some(3));
    assert!(
        refused.err.contains(&listener) && refused.err.contains("refused"),
        "{}",
        refused.err
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}
