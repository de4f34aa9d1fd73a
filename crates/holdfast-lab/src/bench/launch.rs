//! A benchmark in namespaces of its own, as [`crate::launch`] makes them for worlds.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::{Found, Order};
use crate::launch::{LaunchError, Means, answer, chain, converse, own_program};

/// The arguments with which the program measures what it reads from its input; see [`inside`].
const INSIDE: [&str; 3] = ["lab", "bench", "--inside"];

/// What a benchmark says while it goes on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    /// What it is doing.
    Progress(String),
    /// What it found. The last word.
    Found(Box<Found>),
    /// It could not be done, and why: the error and its causes. The last word.
    Failed(Vec<String>),
}

/// Measures with a copy of `program`, which is also the Holdfast that is measured; `hear` gets told
/// what it is doing.
pub async fn launch(
    means: Means,
    program: &Path,
    order: &Order,
    mut hear: impl FnMut(&str),
) -> Result<Found, LaunchError> {
    let mut last_word = None;
    let said = converse(means, program, &INSIDE, order, |word| match word {
        Word::Progress(text) => hear(&text),
        Word::Found(found) => last_word = Some(Ok(*found)),
        Word::Failed(chain) => last_word = Some(Err(LaunchError::Failed(chain))),
    })
    .await?;
    last_word.unwrap_or(Err(LaunchError::Lost(said)))
}

/// What the copy of the program does: reads an order from its input, measures, and says its words as
/// lines of JSON. Ends early when the input does.
pub async fn inside() -> Result<(), LaunchError> {
    let program = own_program()?;
    let perform = async |order: Order, words: mpsc::UnboundedSender<Word>| {
        let (give, result) = oneshot::channel();
        let progress = words.clone();
        // A thread of its own: the generator of load waits in the kernel, not in a runtime.
        std::thread::spawn(move || {
            let tell = |text| drop(progress.send(Word::Progress(text)));
            drop(give.send(super::run(&order, &program, tell)));
        });
        let last_word = match result.await {
            Ok(Ok(found)) => Word::Found(Box::new(found)),
            Ok(Err(error)) => Word::Failed(chain(&error)),
            Err(_) => Word::Failed(vec!["the benchmark ended with a bug".to_owned()]),
        };
        // The reader goes on until the last word.
        drop(words.send(last_word));
    };
    let is_last = |word: &Word| matches!(word, Word::Found(_) | Word::Failed(_));
    answer(perform, is_last).await
}
