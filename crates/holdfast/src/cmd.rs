//! One module per command.

pub mod adopt;
pub mod agent;
pub mod check;
pub mod demo;
pub mod egress;
pub mod lab;
pub mod plan;
pub mod status;
