# Every way to build, try, test and measure Holdfast. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
# How much of the suites on real Kubernetes runs: all, short or no; and which version.
REAL ?= all
KUBERNETES ?= 1.37.2
# Optimised, but without the whole-program pass of a release: minutes less to wait.
QUICK := $${CARGO_TARGET_DIR:-target}/profiling/holdfast

.PHONY: help setup build quick demo test sim fleet lint deny doc e2e bench reference release clean

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | column -t -s $$'\t'

setup: ## Install what the build, the lab and the tests need; says what it can't install
	@tools/setup

quick: setup
	$(CARGO) build --locked --profile profiling -p holdfast

demo: quick ## Build, then show the outage and the cure; report in target/demo
	$(QUICK) demo --out target/demo

test: setup ## Run every test that needs no more than a Linux machine
	@tools/kubectl || true
	@tools/azure-sdk || true
	HOLDFAST_SIM_HISTORIES=20000 $(CARGO) test --locked --workspace

sim: ## Random histories against the safety rules: HISTORIES=10000000 SEED=0
	HOLDFAST_SIM_HISTORIES=$${HISTORIES:-10000000} HOLDFAST_SIM_SEED=$${SEED:-0} \
	  $(CARGO) test --locked --release -p holdfast-core hold_in_random_histories

fleet: ## 5,000 simulated nodes meet failures and recoveries: how they spread over the servers
	$(CARGO) test --locked -p holdfast-core --lib a_fleet_of_5000_nodes -- --nocapture

lint: setup deny ## Formatting, clippy, documentation, dependencies, generated files
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets --all-features -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --workspace --no-deps --document-private-items
	$(CARGO) xtask generate --check

deny: ## Licences, sources and duplicates of dependencies
	tools/cargo-tool cargo-deny 0.20.2
	target/tools/bin/cargo-deny --locked check bans licenses sources

e2e: quick ## The lab on unscaled clocks, then real Kubernetes; REAL=short|no, KUBERNETES=1.34.4
	$(QUICK) lab run --jobs 2 --html target/e2e/report.html --json target/e2e/report.json \
	  $$($(QUICK) lab list -o json | tr -d ' ",' | sed -n 's/^scenario://p')
	@tools/setup-peers
	e2e/kubernetes/run $(QUICK) $(REAL) $(KUBERNETES)

bench: quick ## The data path beside HAProxy and nginx; figures in target/bench/report.json, about four minutes
	@tools/setup-peers
	$(QUICK) lab bench --seconds 2 --json target/bench/report.json

reference: ## Write the generated reference docs, schemas, man pages and completions again
	$(CARGO) xtask generate

release: setup ## The binary that ships
	$(CARGO) build --locked --release -p holdfast

clean: ## Remove everything that was built
	$(CARGO) clean
