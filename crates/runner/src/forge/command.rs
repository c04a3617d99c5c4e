//! The commands, each in one place: what is run is what a dry run prints.

use std::fmt::Display;
use std::time::Duration;

use engine::MergeMethod;

use crate::forge::proposal::framed;
use crate::forge::remote::Slug;

/// The time for a question, and for something that moves data.
const QUESTION: Duration = Duration::from_secs(60);
const TRANSFER: Duration = Duration::from_secs(600);

/// A command for the forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForgeCommand {
    /// The program and its arguments.
    pub(super) argv: Vec<String>,
    /// Text for its standard input.
    pub(super) stdin: Option<String>,
    /// The time it may take.
    pub(super) deadline: Duration,
    /// The name of its logs.
    pub(super) name: &'static str,
}

/// The repository: its default branch, what it is a fork of, and what the user may do there.
const REPOSITORY: &str = "query($owner:String!,$name:String!){repository(owner:$owner,name:$name){\
    nameWithOwner viewerPermission defaultBranchRef{name} parent{nameWithOwner defaultBranchRef{name}}}}";

/// Pull requests of a branch, the latest first.
const OF_BRANCH: &str = "query($owner:String!,$name:String!,$branch:String!){repository(owner:$owner,name:$name){\
    pullRequests(headRefName:$branch,first:20,orderBy:{field:CREATED_AT,direction:DESC}){nodes{\
    number url state body headRefOid baseRefName headRepositoryOwner{login}}}}}";

/// Everything that one look shows. Checks may come in several pages.
const LOOK: &str = "query($owner:String!,$name:String!,$number:Int!,$endCursor:String){viewer{login}\
    repository(owner:$owner,name:$name){pullRequest(number:$number){state headRefOid mergeable mergeStateStatus \
    reviews(last:100){nodes{id state body submittedAt author{login}commit{oid}}}\
    reviewRequests(first:100){nodes{requestedReviewer{...on User{login}}}}\
    reviewThreads(first:100){totalCount nodes{id isResolved path line originalLine \
    comments(last:50){nodes{id body author{login}}}}}\
    commits(last:1){nodes{commit{statusCheckRollup{contexts(first:100,after:$endCursor){\
    pageInfo{hasNextPage endCursor}nodes{__typename \
    ...on CheckRun{databaseId name status conclusion detailsUrl title isRequired(pullRequestNumber:$number)\
    checkSuite{workflowRun{databaseId workflow{name}}}}\
    ...on StatusContext{id context state targetUrl description isRequired(pullRequestNumber:$number)}}}}}}}}}}";

/// All threads, where they do not fit on one page.
const THREADS: &str = "query($owner:String!,$name:String!,$number:Int!,$endCursor:String){viewer{login}\
    repository(owner:$owner,name:$name){pullRequest(number:$number){\
    reviewThreads(first:100,after:$endCursor){pageInfo{hasNextPage endCursor}\
    nodes{id isResolved path line originalLine comments(last:50){nodes{id body author{login}}}}}}}}";

/// The comments of a thread, to see whether it was answered.
const THREAD: &str = "query($id:ID!){viewer{login}node(id:$id){...on PullRequestReviewThread{isResolved \
    comments(last:50){nodes{body author{login}}}}}}";

const ANSWER: &str = "mutation($id:ID!,$body:String!){addPullRequestReviewThreadReply(\
    input:{pullRequestReviewThreadId:$id,body:$body}){comment{id}}}";

/// Issues with a label, and those of a milestone, page by page.
const OF_LABEL: &str = "query($owner:String!,$name:String!,$label:String!,$endCursor:String){\
    repository(owner:$owner,name:$name){issues(first:100,after:$endCursor,labels:[$label],states:[OPEN,CLOSED]){\
    pageInfo{hasNextPage endCursor}nodes{number title body state stateReason}}}}";
const OF_MILESTONE: &str = "query($owner:String!,$name:String!,$milestone:String!,$endCursor:String){\
    repository(owner:$owner,name:$name){issues(first:100,after:$endCursor,filterBy:{milestone:$milestone},\
    states:[OPEN,CLOSED]){pageInfo{hasNextPage endCursor}nodes{number title body state stateReason}}}}";

/// Milestones whose titles are alike.
const MILESTONES: &str = "query($owner:String!,$name:String!,$title:String!){\
    repository(owner:$owner,name:$name){milestones(query:$title,first:50){nodes{number title}}}}";

const RESOLVE: &str = "mutation($id:ID!){resolveReviewThread(input:{threadId:$id}){thread{isResolved}}}";

impl ForgeCommand {
    fn new(name: &'static str, argv: &[&str]) -> Self {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        Self { argv, stdin: None, deadline: QUESTION, name }
    }

    /// Asks for the version of `gh`.
    pub(super) fn version() -> Self {
        Self::new("version", &["gh", "--version"])
    }

    /// Pushes a branch to the branch of the same name, and nowhere else. Never forces.
    pub(super) fn push(remote: &str, branch: &str) -> Self {
        let refs = format!("refs/heads/{branch}:refs/heads/{branch}");
        let argv = ["git", "push", "--set-upstream", remote, &refs];
        Self { deadline: TRANSFER, ..Self::new("push", &argv) }
    }

    /// Fetches a branch and moves nothing.
    pub(super) fn fetch(remote: &str, branch: &str) -> Self {
        let argv = ["git", "fetch", "--no-tags", remote, &format!("refs/heads/{branch}")];
        Self { deadline: TRANSFER, ..Self::new("fetch", &argv) }
    }

    /// Asks for the commit of a branch on the other side.
    pub(super) fn tip(remote: &str, branch: &str) -> Self {
        Self::new("tip", &["git", "ls-remote", remote, &format!("refs/heads/{branch}")])
    }

    fn graphql(name: &'static str, host: &str, query: &str, fields: &[(&str, &str, String)]) -> Self {
        let mut command = Self::new(name, &["gh", "api", "graphql", "--hostname", host]);
        for (flag, key, value) in fields {
            command.argv.extend([(*flag).to_owned(), format!("{key}={value}")]);
        }
        command.argv.extend(["-f".to_owned(), format!("query={query}")]);
        command
    }

    fn about(name: &'static str, slug: &Slug, query: &str, more: &[(&str, &str, String)]) -> Self {
        let mut fields = vec![("-f", "owner", slug.owner.clone()), ("-f", "name", slug.name.clone())];
        fields.extend(more.iter().cloned());
        Self::graphql(name, &slug.host, query, &fields)
    }

    /// A command of the program that keeps a source of tasks.
    pub(crate) fn of_tracker(name: &'static str, argv: &[&str]) -> Self {
        Self::new(name, argv)
    }

    /// Asks for the issues with a label.
    pub(super) fn issues_with_label(slug: &Slug, label: &str) -> Self {
        let mut command = Self::about("issues", slug, OF_LABEL, &[("-f", "label", label.to_owned())]);
        command.argv.push("--paginate".to_owned());
        command
    }

    /// Asks for the issues of a milestone, by its number.
    pub(super) fn issues_of_milestone(slug: &Slug, milestone: u64) -> Self {
        let fields = [("-f", "milestone", milestone.to_string())];
        let mut command = Self::about("issues", slug, OF_MILESTONE, &fields);
        command.argv.push("--paginate".to_owned());
        command
    }

    /// Asks for milestones by their title.
    pub(super) fn milestones(slug: &Slug, title: &str) -> Self {
        Self::about("milestones", slug, MILESTONES, &[("-f", "title", title.to_owned())])
    }

    /// Closes an issue.
    pub(super) fn close_issue(slug: &Slug, number: u64) -> Self {
        Self::new("close", &["gh", "issue", "close", &number.to_string(), "--repo", &slug.argument()])
    }

    /// Asks for the repository.
    pub(super) fn repository(slug: &Slug) -> Self {
        Self::about("repository", slug, REPOSITORY, &[])
    }

    /// Asks for the pull requests of a branch.
    pub(super) fn of_branch(slug: &Slug, branch: &str) -> Self {
        Self::about("find", slug, OF_BRANCH, &[("-f", "branch", branch.to_owned())])
    }

    /// Creates a pull request; its body comes on standard input.
    pub(super) fn create(
        slug: &Slug,
        head: &str,
        base: &str,
        proposal: &crate::forge::proposal::Proposal,
    ) -> Self {
        let repo = slug.argument();
        let mut argv = vec!["gh", "pr", "create", "--repo", &repo, "--head", head, "--base", base];
        argv.extend(["--title", &proposal.title, "--body-file", "-"]);
        if proposal.draft.is_on() {
            argv.push("--draft");
        }
        Self { stdin: Some(framed(&proposal.body)), ..Self::new("create", &argv) }
    }

    /// Changes what a pull request says of itself; that comes on standard input.
    pub(super) fn describe(slug: &Slug, number: impl Display, body: &str) -> Self {
        let path = format!("repos/{}/pulls/{number}", slug.path());
        let argv = ["gh", "api", "--hostname", &slug.host, "--method", "PATCH", &path, "-F", "body=@-"];
        Self { stdin: Some(body.to_owned()), ..Self::new("describe", &argv) }
    }

    /// Whose review is asked for.
    pub(super) fn requested(slug: &Slug, number: impl Display) -> Self {
        let path = format!("repos/{}/pulls/{number}/requested_reviewers", slug.path());
        Self::new("requested", &["gh", "api", "--hostname", &slug.host, &path])
    }

    /// Asks somebody for a review.
    pub(super) fn request_review(slug: &Slug, number: impl Display, login: &str) -> Self {
        let path = format!("repos/{}/pulls/{number}/requested_reviewers", slug.path());
        let reviewer = format!("reviewers[]={login}");
        let argv = ["gh", "api", "--hostname", &slug.host, "--method", "POST", &path, "-f", &reviewer];
        Self::new("request", &argv)
    }

    /// Asks how much may still be asked, and from when on there may be more.
    pub(super) fn rate_limit(host: &str) -> Self {
        Self::new("limits", &["gh", "api", "--hostname", host, "rate_limit"])
    }

    /// Takes in what was fetched.
    pub(super) fn join() -> Self {
        let words = ["git"].into_iter().chain(crate::git::JOIN).chain(["FETCH_HEAD"]);
        Self::new("join", &words.collect::<Vec<_>>())
    }

    /// Everything that a look shows.
    pub(super) fn look(slug: &Slug, number: impl Display) -> Self {
        let mut command = Self::about("look", slug, LOOK, &[("-F", "number", number.to_string())]);
        command.argv.push("--paginate".to_owned());
        command
    }

    /// All threads, page by page.
    pub(super) fn threads(slug: &Slug, number: impl Display) -> Self {
        let mut command = Self::about("threads", slug, THREADS, &[("-F", "number", number.to_string())]);
        command.argv.push("--paginate".to_owned());
        command
    }

    /// Asks how often a workflow run was started.
    pub(super) fn run_state(slug: &Slug, run: impl Display) -> Self {
        let path = format!("repos/{}/actions/runs/{run}", slug.path());
        Self::new("run", &["gh", "api", "--hostname", &slug.host, &path])
    }

    /// Runs the failed jobs of a workflow run again.
    pub(super) fn rerun(slug: &Slug, run: impl Display) -> Self {
        Self::new("rerun", &["gh", "run", "rerun", &run.to_string(), "--failed", "--repo", &slug.argument()])
    }

    /// The log of the failed steps of a workflow run.
    pub(super) fn failed_log(slug: &Slug, run: impl Display) -> Self {
        let argv = ["gh", "run", "view", &run.to_string(), "--log-failed", "--repo", &slug.argument()];
        Self { deadline: TRANSFER, ..Self::new("log", &argv) }
    }

    /// The whole log of one job, where that of the failed steps has nothing.
    pub(super) fn job_log(slug: &Slug, job: &str) -> Self {
        let path = format!("repos/{}/actions/jobs/{job}/logs", slug.path());
        let argv = ["gh", "api", "--hostname", &slug.host, &path];
        Self { deadline: TRANSFER, ..Self::new("job-log", &argv) }
    }

    /// Asks for a thread.
    pub(super) fn thread(slug: &Slug, id: &str) -> Self {
        Self::graphql("thread", &slug.host, THREAD, &[("-f", "id", id.to_owned())])
    }

    /// Answers a thread.
    pub(super) fn answer(slug: &Slug, id: &str, body: &str) -> Self {
        let fields = [("-f", "id", id.to_owned()), ("-f", "body", body.to_owned())];
        Self::graphql("answer", &slug.host, ANSWER, &fields)
    }

    /// Calls a thread resolved.
    pub(super) fn resolve(slug: &Slug, id: &str) -> Self {
        Self::graphql("resolve", &slug.host, RESOLVE, &[("-f", "id", id.to_owned())])
    }

    /// Merges a pull request, if it is still at this commit.
    pub(super) fn merge(slug: &Slug, number: impl Display, method: MergeMethod, head: &str) -> Self {
        let method = match method {
            MergeMethod::Merge => "--merge",
            MergeMethod::Squash => "--squash",
            MergeMethod::Rebase => "--rebase",
        };
        let repo = slug.argument();
        let number = number.to_string();
        let argv = ["gh", "pr", "merge", &number, "--repo", &repo, method, "--match-head-commit", head];
        Self::new("merge", &argv)
    }

    /// In a message: a query is called by its name.
    pub(super) fn named(&self) -> String {
        let is_query = self.argv.get(2).is_some_and(|word| word == "graphql");
        if is_query { format!("gh api graphql ({})", self.name) } else { self.typed() }
    }

    /// As a person would type it.
    pub(super) fn typed(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@".contains(c);
        let word = |word: &String| {
            let needs_none = !word.is_empty() && word.chars().all(is_plain);
            if needs_none { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
        };
        self.argv.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}
