//! What the DNS server knows, and how it answers from it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::{CNAME, SOA};
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType};

/// How long a resolver may remember that something does not exist, in seconds (RFC 2308 §5).
const NEGATIVE_LIFETIME: u32 = 5;
/// Aliases that are followed before the answer is a server failure: a loop was scripted.
const LONGEST_CHAIN: usize = 16;
/// What a client without EDNS accepts over UDP, in bytes (RFC 1035 §4.2.1).
const PLAIN_DATAGRAM: u16 = 512;
/// What this server says it accepts, in bytes (DNS flag day 2020).
const OWN_DATAGRAM: u16 = 1232;

/// How a question arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Tcp,
    Udp,
}

/// The record types that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    A,
    Aaaa,
}

/// What can be wrong with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// The name exists, without records.
    Empty,
    NxDomain,
    Refused,
    ServFail,
    /// No answer at all.
    Silent,
    /// Nothing fits over UDP; TCP works.
    Truncated,
}

/// The names of the server.
#[derive(Debug)]
pub(super) struct Zone {
    origin: Name,
    names: BTreeMap<Name, Entry>,
    questions: u64,
}

#[derive(Debug, Default)]
struct Entry {
    addresses: BTreeMap<Family, Addresses>,
    alias: Option<(u32, Name)>,
    failure: Option<Failure>,
    /// How many addresses an answer shows; `None`: all of them.
    shown: Option<usize>,
}

#[derive(Debug)]
struct Addresses {
    lifetime: u32,
    list: Vec<IpAddr>,
    /// Where the next answer begins when only some are shown.
    first: usize,
}

impl Zone {
    pub(super) fn new(origin: Name) -> Self {
        Self {
            origin,
            names: BTreeMap::new(),
            questions: 0,
        }
    }

    /// Replaces the addresses of one family; an empty list removes them.
    pub(super) fn set(&mut self, owner: &Name, lifetime: u32, family: Family, list: Vec<IpAddr>) {
        let entry = self.entry(owner);
        entry.alias = None;
        if list.is_empty() {
            entry.addresses.remove(&family);
            return;
        }
        let addresses = Addresses {
            lifetime,
            list,
            first: 0,
        };
        entry.addresses.insert(family, addresses);
    }

    /// Makes a name an alias, which can have no other records (RFC 1034 §3.6.2).
    pub(super) fn alias(&mut self, owner: &Name, lifetime: u32, target: Name) {
        let entry = self.entry(owner);
        entry.addresses.clear();
        entry.alias = Some((lifetime, target));
    }

    pub(super) fn rotate(&mut self, owner: &Name, shown: usize) {
        self.entry(owner).shown = Some(shown);
    }

    pub(super) fn fail(&mut self, owner: &Name, failure: Failure) {
        self.entry(owner).failure = Some(failure);
    }

    pub(super) fn heal(&mut self, owner: &Name) {
        if let Some(entry) = self.names.get_mut(owner) {
            entry.failure = None;
        }
    }

    /// Questions that were asked, answered or not.
    pub(super) fn questions(&self) -> u64 {
        self.questions
    }

    /// The answer, or `None` for silence.
    pub(super) fn answer(&mut self, question: &Message, transport: Transport) -> Option<Message> {
        if question.metadata.message_type != MessageType::Query {
            return None;
        }
        self.questions += 1;
        let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
        answer.metadata.recursion_desired = question.metadata.recursion_desired;
        answer.metadata.recursion_available = true;
        answer.metadata.authoritative = true;
        answer.add_queries(question.queries.iter().cloned());
        if question.edns.is_some() {
            let mut edns = Edns::new();
            edns.set_max_payload(OWN_DATAGRAM);
            answer.set_edns(edns);
        }

        let asked = match question.queries.as_slice() {
            [asked] if question.metadata.op_code == OpCode::Query => asked,
            _ => {
                answer.metadata.response_code = ResponseCode::NotImp;
                return Some(answer);
            }
        };
        match self.follow(asked, &mut answer) {
            Some(Failure::Silent) => return None,
            Some(Failure::Truncated) if transport == Transport::Udp => {
                return Some(answer.truncate());
            }
            Some(failure) => self.refuse(failure, &mut answer),
            None => {}
        }
        let room = question
            .edns
            .as_ref()
            .map_or(PLAIN_DATAGRAM, Edns::max_payload)
            .max(PLAIN_DATAGRAM);
        let too_long = answer.to_vec().is_ok_and(|bytes| bytes.len() > room.into());
        if transport == Transport::Udp && too_long {
            answer = answer.truncate();
        }
        Some(answer)
    }

    /// Puts the chain of aliases and the addresses at its end into the answer, or tells what failed.
    fn follow(&mut self, asked: &Query, answer: &mut Message) -> Option<Failure> {
        let wanted = asked.query_type();
        if asked.query_class() != DNSClass::IN {
            return Some(Failure::Refused);
        }
        let mut truncated = None;
        let mut owner = asked.name().to_lowercase();
        for _ in 0..LONGEST_CHAIN {
            let within = self.origin.zone_of(&owner);
            let Some(entry) = self.names.get_mut(&owner) else {
                return Some(if within {
                    Failure::NxDomain
                } else {
                    Failure::Refused
                });
            };
            match entry.failure {
                // Kept for later: over TCP the whole chain is wanted.
                Some(Failure::Truncated) => truncated = Some(Failure::Truncated),
                Some(failure) => return Some(failure),
                None => {}
            }
            if let Some((lifetime, target)) = entry.alias.clone() {
                let data = RData::CNAME(CNAME(target.clone()));
                answer.add_answer(Record::from_rdata(owner, lifetime, data));
                if wanted == RecordType::CNAME {
                    return truncated;
                }
                owner = target;
                continue;
            }
            let records = entry.records(&owner, wanted);
            if records.is_empty() {
                return Some(truncated.unwrap_or(Failure::Empty));
            }
            answer.add_answers(records);
            return truncated;
        }
        Some(Failure::ServFail)
    }

    /// Turns the answer into the failure. Aliases on the way to a name without records stay.
    fn refuse(&self, failure: Failure, answer: &mut Message) {
        match failure {
            Failure::Empty => answer.metadata.response_code = ResponseCode::NoError,
            Failure::NxDomain => answer.metadata.response_code = ResponseCode::NXDomain,
            Failure::Refused => answer.metadata.response_code = ResponseCode::Refused,
            Failure::ServFail => answer.metadata.response_code = ResponseCode::ServFail,
            Failure::Silent | Failure::Truncated => {}
        }
        match failure {
            Failure::Empty | Failure::NxDomain => {
                answer.add_authority(self.authority());
            }
            Failure::Refused | Failure::ServFail => answer.answers.clear(),
            Failure::Silent | Failure::Truncated => {}
        }
    }

    /// The SOA record that carries the lifetime of a negative answer (RFC 2308 §3).
    fn authority(&self) -> Record {
        let origin = &self.origin;
        let data = SOA::new(
            origin.clone(),
            origin.clone(),
            1,
            3600,
            600,
            86_400,
            NEGATIVE_LIFETIME,
        );
        Record::from_rdata(origin.clone(), NEGATIVE_LIFETIME, RData::SOA(data))
    }

    fn entry(&mut self, owner: &Name) -> &mut Entry {
        self.names.entry(owner.clone()).or_default()
    }
}

impl Entry {
    /// The records of the wanted type, as many as are shown, and the turn moved on.
    fn records(&mut self, owner: &Name, wanted: RecordType) -> Vec<Record> {
        let family = if wanted == RecordType::A {
            Family::A
        } else if wanted == RecordType::AAAA {
            Family::Aaaa
        } else {
            return Vec::new();
        };
        let Some(addresses) = self.addresses.get_mut(&family) else {
            return Vec::new();
        };
        let count = addresses.list.len();
        let shown = self.shown.unwrap_or(count).min(count);
        let first = addresses.first;
        if self.shown.is_some() {
            addresses.first = (first + 1) % count;
        }
        let turned = addresses.list.iter().cycle().skip(first).take(shown);
        turned
            .map(|address| {
                Record::from_rdata(owner.clone(), addresses.lifetime, RData::from(*address))
            })
            .collect()
    }
}
