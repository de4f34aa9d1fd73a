//! The guard's part of `holdfast status`: the sockets that it watches, and what it can't do.

use comfy_table::{Cell, Color};
use holdfast_core::status::{GuardStatus, GuardedStatus};

use super::{maybe_span, print_table, span, table};

pub(super) fn render(guard: &GuardStatus, uptime: f64, colours: bool) -> String {
    let mode = match (&guard.missing, guard.dry_run) {
        (Some(missing), _) => format!("only reports: {missing}"),
        (None, true) => "only reports (dry run)".to_owned(),
        (None, false) => "aborts dead connections".to_owned(),
    };
    let mut text = format!(
        "guard: {mode}; looked {} ago, which took {}\n",
        span(uptime - guard.looked_at_s),
        span(guard.look_s)
    );
    for unseen in &guard.unseen {
        text += "guard: ";
        text += unseen;
        text += "\n";
    }
    text + &sockets(&guard.sockets, colours)
}

fn sockets(sockets: &[GuardedStatus], colours: bool) -> String {
    let header = [
        "GUARDED",
        "CLIENT",
        "LOCAL",
        "UPSTREAM",
        "STATE",
        "SINCE",
        "LAST BYTE",
        "RESENT",
    ];
    let mut table = table(colours, &header);
    for socket in sockets {
        let (state, colour) = if socket.established {
            ("established", Color::Green)
        } else {
            ("dialling", Color::Yellow)
        };
        table.add_row([
            Cell::new(format!("#{}", socket.connection)),
            Cell::new(&socket.client),
            Cell::new(socket.local),
            Cell::new(socket.remote),
            Cell::new(state).fg(colour),
            Cell::new(span(socket.since_s)),
            Cell::new(maybe_span(socket.last_byte_s)),
            Cell::new(socket.retransmits),
        ]);
    }
    print_table(&table)
}
