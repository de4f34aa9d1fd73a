//! One module per command.

pub mod agent;
pub mod demo;
pub mod lab;
pub mod plan;
pub mod status;
