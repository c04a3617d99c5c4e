//! The table of those who are told when nobody is there: `[notify]` in the settings file.

use std::ops::Range;

use runner::{Notify, Occasion, Webhook};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::{Key, in_order, texts};

/// The name of the table.
pub(super) const TABLE: &str = "notify";
/// Its keys, and those of a webhook.
pub(super) const KEYS: [&str; 3] = ["command", "desktop", "webhook"];
pub(super) const WEBHOOK_KEYS: [&str; 3] = ["url", "secret", "on"];

/// Something wrong: where, what, and a hint.
type Problem = (Range<usize>, String, Option<String>);

/// Reads the table.
pub(super) fn read(value: &Spanned<DeValue<'_>>) -> (Notify, Vec<Problem>) {
    let mut reader = Reader::default();
    match value.get_ref() {
        DeValue::Table(table) => reader.table(table),
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_) => {
            let hint = "write `[notify]` and under it, for example, `desktop = true`";
            reader.problem(value.span(), "`notify` must be a table", Some(hint.to_owned()));
        }
    }
    (reader.notify, reader.problems)
}

#[derive(Default)]
struct Reader {
    notify: Notify,
    problems: Vec<Problem>,
}

impl Reader {
    fn problem(&mut self, span: Range<usize>, message: &str, hint: Option<String>) {
        self.problems.push((span, message.to_owned(), hint));
    }

    fn table(&mut self, table: &DeTable<'_>) {
        for (key, value) in in_order(table) {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("command", DeValue::String(text)) if !text.trim().is_empty() => {
                    self.notify.command = Some(text.to_string());
                }
                ("command", _) => {
                    self.problem(value.span(), "`notify.command` must be a text and not empty", None);
                }
                ("desktop", DeValue::Boolean(is_on)) => self.notify.desktop = *is_on,
                ("desktop", _) => self.problem(value.span(), "`notify.desktop` must be true or false", None),
                ("webhook", DeValue::Array(webhooks)) => {
                    webhooks.iter().for_each(|webhook| self.webhook(webhook));
                }
                ("webhook", _) => {
                    let hint = "write `[[notify.webhook]]` and under it `url = \"https://…\"`";
                    self.problem(value.span(), "`notify.webhook` must be a list", Some(hint.to_owned()));
                }
                (unknown, _) => self.unknown(key.span(), &format!("notify.{unknown}"), unknown, &KEYS),
            }
        }
    }

    fn unknown(&mut self, span: Range<usize>, shown: &str, key: &str, known: &[&'static str]) {
        let hint = plan::nearest(key, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        self.problem(span, &format!("unknown key `{shown}`"), hint);
    }

    fn webhook(&mut self, value: &Spanned<DeValue<'_>>) {
        let DeValue::Table(table) = value.get_ref() else {
            return self.problem(value.span(), "`notify.webhook` must be a list of tables", None);
        };
        let mut webhook = Webhook { url: String::new(), secret: None, on: Occasion::NAMED.to_vec() };
        for (key, value) in in_order(table) {
            self.webhook_key((key, value), &mut webhook);
        }
        let is_address = ["https://", "http://", "$"].iter().any(|begin| webhook.url.starts_with(begin));
        if is_address {
            self.notify.webhooks.push(webhook);
        } else {
            let message =
                "a webhook needs an `url` that begins with https:// or http://, or `$NAME` of a variable";
            self.problem(value.span(), message, None);
        }
    }

    fn webhook_key(&mut self, (key, value): (&Key<'_>, &Spanned<DeValue<'_>>), webhook: &mut Webhook) {
        let named = |text: &String| Occasion::NAMED.into_iter().find(|occasion| occasion.name() == text);
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("url", DeValue::String(text)) => webhook.url = text.trim().to_owned(),
            ("secret", DeValue::String(text)) if !text.is_empty() => webhook.secret = Some(text.to_string()),
            ("url" | "secret", _) => {
                let message = format!("`notify.webhook.{}` must be a text and not empty", key.get_ref());
                self.problem(value.span(), &message, None);
            }
            ("on", list) => {
                let names = texts(list).unwrap_or_default();
                let known: Vec<Occasion> = names.iter().filter_map(named).collect();
                if known.is_empty() || known.len() < names.len() {
                    let message = "`notify.webhook.on` must be a list of asked, stopped, done";
                    self.problem(value.span(), message, None);
                }
                webhook.on = known;
            }
            (unknown, _) => {
                self.unknown(key.span(), &format!("notify.webhook.{unknown}"), unknown, &WEBHOOK_KEYS);
            }
        }
    }
}
