//! The configuration of agents for a model: the variables and the files in a fresh home that make every known one of
//! them talk to an address, with made-up keys, without asking anybody else and without long retries of its own.

use serde_json::json;

/// A key that no service takes.
const KEY: &str = "rehearsal-no-real-key";
/// The name of the model that agents are told to use where they have to be told.
const MODEL: &str = "rehearsal";

/// The variables and files by which an agent finds a model at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// Variables of its environment.
    pub env: Vec<(String, String)>,
    /// Files of its home, relative to that, with their text.
    pub files: Vec<(String, String)>,
}

impl ClientConfig {
    /// Everything that any known agent needs to talk to the model at this address.
    pub fn at(base_url: &str) -> Self {
        let mut env = switched_off();
        env.extend(claude(base_url));
        env.extend(gemini(base_url));
        env.extend(openai(base_url));
        env.extend(opencode(base_url));
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let files = vec![
            (".codex/config.toml".to_owned(), codex_config(base_url)),
            (".gemini/settings.json".to_owned(), gemini_settings()),
            (".pi/agent/models.json".to_owned(), pi_models(base_url)),
            (".pi/agent/settings.json".to_owned(), pi_settings()),
        ];
        Self { env, files }
    }
}

type Variables = Vec<(&'static str, String)>;

/// Variables that switch off what agents do beside their work.
fn switched_off() -> Variables {
    let names = [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_TELEMETRY",
        "GEMINI_CLI_NO_RELAUNCH",
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "PI_OFFLINE",
    ];
    let is_word = |name: &str| name == "GEMINI_CLI_NO_RELAUNCH";
    names.map(|name| (name, if is_word(name) { "true" } else { "1" }.to_owned())).to_vec()
}

/// Variables for Claude Code. Root has no user to protect in a rehearsal: the home and the project are scratch.
fn claude(base_url: &str) -> Variables {
    vec![
        ("ANTHROPIC_BASE_URL", base_url.to_owned()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()),
        ("IS_SANDBOX", "1".to_owned()),
    ]
}

fn gemini(base_url: &str) -> Variables {
    vec![
        ("GOOGLE_GEMINI_BASE_URL", base_url.to_owned()),
        ("GEMINI_API_KEY", KEY.to_owned()),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
        // With a model of its own choice it asks another one first which it should choose.
        ("GEMINI_MODEL", "gemini-2.5-pro".to_owned()),
    ]
}

/// For aider, and for whatever else speaks the protocols of OpenAI.
fn openai(base_url: &str) -> Variables {
    vec![
        ("OPENAI_API_KEY", KEY.to_owned()),
        ("OPENAI_API_BASE", format!("{base_url}/v1")),
        ("OPENAI_BASE_URL", format!("{base_url}/v1")),
        ("LITELLM_LOCAL_MODEL_COST_MAP", "True".to_owned()),
    ]
}

fn opencode(base_url: &str) -> Variables {
    let model = json!({
        "name": MODEL, "limit": { "context": 200_000, "output": 8_000 }, "cost": { "input": 3, "output": 15 },
    });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": MODEL,
        "options": { "baseURL": format!("{base_url}/v1"), "apiKey": KEY }, "models": { (MODEL): model },
    });
    let name = format!("{MODEL}/{MODEL}");
    let config = json!({
        "autoupdate": false, "share": "disabled", "model": name, "small_model": name,
        "enabled_providers": [MODEL], "provider": { (MODEL): provider },
    });
    vec![("OPENCODE_CONFIG_CONTENT", config.to_string())]
}

fn codex_config(base_url: &str) -> String {
    format!(
        "model = \"gpt-5.1-codex\"\nmodel_provider = \"{MODEL}\"\ncheck_for_update_on_startup = false\n\n\
         [analytics]\nenabled = false\n\n[features]\nplugins = false\n\n[model_providers.{MODEL}]\n\
         name = \"{MODEL}\"\nbase_url = \"{base_url}/v1\"\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n\
         request_max_retries = 0\nstream_max_retries = 0\n"
    )
}

fn gemini_settings() -> String {
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "general": { "enableAutoUpdate": false, "maxAttempts": 1 },
    });
    settings.to_string()
}

fn pi_models(base_url: &str) -> String {
    let model = json!({ "id": MODEL, "name": MODEL, "cost": { "input": 3, "output": 15, "cacheRead": 0, "cacheWrite": 0 } });
    let provider = json!({
        "baseUrl": format!("{base_url}/v1"), "apiKey": KEY, "api": "openai-completions", "models": [model],
    });
    json!({ "providers": { (MODEL): provider } }).to_string()
}

fn pi_settings() -> String {
    json!({ "defaultProvider": MODEL, "defaultModel": MODEL, "retry": { "enabled": false, "provider": { "maxRetries": 0 } } }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_points_at_the_address_and_nowhere_else() {
        let config = ClientConfig::at("http://127.0.0.1:9");
        let texts = config.env.iter().chain(&config.files).map(|(_, text)| text);
        let addresses: Vec<&str> = texts
            .flat_map(|text| text.match_indices("http").map(|(start, _)| &text[start..]).collect::<Vec<_>>())
            .collect();
        assert!(addresses.len() >= 6);
        assert!(addresses.iter().all(|address| address.starts_with("http://127.0.0.1:9")), "{addresses:?}");
    }

    #[test]
    fn the_files_can_be_read() {
        let config = ClientConfig::at("http://127.0.0.1:9");
        for (name, text) in &config.files {
            if name.ends_with(".json") {
                serde_json::from_str::<serde_json::Value>(text).unwrap();
            }
        }
        let (_, config) = config.env.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap();
        serde_json::from_str::<serde_json::Value>(config).unwrap();
    }
}
