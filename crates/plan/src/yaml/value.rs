//! A value: a scalar, a list, or a map in the order of its text.

/// A YAML text, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is spelled: `01` stays `01`.
    Number(String),
    /// Any other scalar.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A map in the order of the text.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// The value of a key of a map, the last one if there are several.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The entries of a map; none for anything else.
    #[must_use]
    pub fn entries(&self) -> &[(String, Value)] {
        match self {
            Value::Map(entries) => entries,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => &[],
        }
    }

    /// The items of a list; none for anything else.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => &[],
        }
    }

    /// The text of a scalar, an empty one for nothing at all.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            Value::Null => Some(String::new()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(text) | Value::Text(text) => Some(text.clone()),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// A truth value, also where it is written `yes`, `no` or in quotes.
    #[must_use]
    pub fn bool(&self) -> Option<bool> {
        match self.text()?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }

    /// The texts of a list's scalars; a scalar counts as a list of one, nothing as an empty list. An item
    /// that is a map of one entry is written `key: value`, as its author probably meant it.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        match self {
            Value::Null => Vec::new(),
            Value::Bool(_) | Value::Number(_) | Value::Text(_) => self.text().into_iter().collect(),
            Value::List(items) => items.iter().filter_map(Value::item_text).collect(),
            Value::Map(entries) => entries.iter().map(entry_text).collect(),
        }
    }

    fn item_text(&self) -> Option<String> {
        match self {
            Value::Null => None,
            Value::Map(entries) if entries.len() == 1 => entries.first().map(entry_text),
            Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
                self.text()
            }
        }
    }

    /// The value of a scalar without quotes.
    pub(super) fn plain(text: &str) -> Value {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Value::Null,
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            text if is_number(text) => Value::Number(text.to_owned()),
            text => Value::Text(text.to_owned()),
        }
    }
}

fn entry_text((key, value): &(String, Value)) -> String {
    match value.text() {
        Some(text) if !text.is_empty() => format!("{key}: {text}"),
        Some(_) | None => key.clone(),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.contains(|c: char| c.is_ascii_digit())
        && text.parse::<f64>().is_ok()
}
