use openapi::{apis::{configuration::Configuration, posts_api}, models::PostCreate};
use std::env::var;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Configuration { base_path: var("DATELINE")?, bearer_access_token: Some(var("TOKEN")?), ..Configuration::default() };
    let post = PostCreate { scheduled_time: Some(var("AT")?), accounts: Some(vec![var("ACCOUNT")?]), ..PostCreate::new(var("CONTENT")?) };
    let post = posts_api::create_post(&config, post, None).await?;
    println!("{}", posts_api::get_post(&config, &post.id.to_string()).await?.id);
    Ok(())
}
