//! Worlds of network namespaces in which Holdfast and its peers meet real faults and are measured.
//!
//! A [`scenario`] says what is in a world and what happens to it. [`launch`] starts a copy of this
//! program in namespaces of its own, where [`run`] builds the [`world`], carries out the timeline and
//! watches the subjects. [`measure`] turns what was seen into figures, [`report`] shows them.
//! [`mod@bench`] measures what a data path costs where nothing goes wrong.

pub mod actor;
pub mod azure;
pub mod bench;
pub mod certificates;
pub mod fault;
pub mod go_client;
pub mod kubernetes;
pub mod launch;
pub mod matrix;
pub mod measure;
pub mod peer;
pub mod process;
pub mod report;
pub mod run;
pub mod scenario;
pub mod span;
pub mod subject;
pub mod world;
