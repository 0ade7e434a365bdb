"""The table of programs that change something outside the working copy, and how to check each afterwards.

A row is (verbs, kind, checks). The verbs are a pattern for the plain words after the program; rows are tried
in order, and the kind `""` means that such a call changes nothing. A check is a command with fields: `{1}` is
the first plain word after the verbs, `{-n|--namespace}` the value of an option, and a part in brackets is
left out if a field in it has no value. The first check whose other fields all have values counts.
"""

from __future__ import annotations

from collections.abc import Mapping

Row = tuple[str, str, tuple[str, ...]]
Rows = tuple[Row, ...]


def _row(verbs: str, kind: str, *checks: str) -> Row:
    return verbs, kind, checks


# Options that take a value, of any program; only where that matters for finding the verb.
VALUE_OPTIONS: Mapping[str, str] = {
    "git": "-C -c --git-dir --work-tree -o --push-option --receive-pack --exec --repo",
    "gh": "-R --repo -t --title -b --body -F --body-file -B --base -H --head -l --label -a --assignee -r"
    " --reviewer -m --milestone -p --project --target --notes -n --notes-file --tag -X --method -f"
    " --raw-field --field --jq -q --hostname --input -c --comment --reason --subject -T --template --ref -e"
    " --env --org --visibility --json --cache --preview -w --workflow --limit -L --state -s --search -S",
    "glab": "-R --repo -t --title -d --description -b --target-branch -s --source-branch -l --label -a"
    " --assignee -m --message -n --notes -X --method -f --field --ref -F",
    "kubectl": "-n --namespace --context -f --filename -k --kustomize --cluster --kubeconfig -l --selector -o"
    " --replicas --image -c --container -p --patch --type --as --timeout --grace-period --field-selector"
    " --port",
    "helm": "-n --namespace -f --values --set --version --kube-context --timeout --kubeconfig --set-string"
    " --repo --set-file",
    "docker": "-H --host --context -c --config -f --file -p --project-name -t --tag --name -e --env -v"
    " --volume --env-file --network --net -l --label --platform --build-arg --profile --entrypoint --user"
    " -u -w --workdir --restart --memory -m --cpus --mount --publish --hostname -h --add-host --pull"
    " --scale --project-directory --shm-size --gpus --cap-add --log-driver --log-opt --ulimit --expose --ip"
    " --target",
    "terraform": "-var -var-file -target -state -lock-timeout -parallelism -backend-config -replace",
    "pulumi": "-s --stack -C --cwd -m --message -c --config -p --parallel --target",
    "npm": "-w --workspace --prefix --tag --access --otp --registry -C --dir --filter -F --cwd --userconfig",
    "aws": "--profile --region --output --query --endpoint-url --color --cli-input-json",
    "gcloud": "--project --region --zone --account --format --configuration --filter"
    " --impersonate-service-account --image --source --platform --location --cluster",
    "az": "-g --resource-group -n --name --subscription -o --output --query -l --location",
    "fly": "-a --app -c --config -i --image --region -r --org -o",
    "heroku": "-a --app -r --remote --confirm -t",
    "vercel": "-t --token --scope -S --cwd -A --local-config -Q -b -e --env -m --meta --target",
    "netlify": "-d --dir -s --site -m --message -a --auth --filter --alias",
    "wrangler": "-c --config -e --env --name --project-name --branch --tag --message --binding --preview-id",
    "firebase": "-P --project --only --except -m --message --token -c --config",
    "ansible": "-i --inventory -e --extra-vars -l --limit -t --tags -u --user -m --module-name -a --args -f"
    " --vault-password-file --private-key --skip-tags -c --connection --start-at-task",
    "systemctl": "-H --host -M --machine -t --type --root",
    "alembic": "-c --config -n --name -x",
    "prisma": "--schema --name -n --file --url",
    "redis-cli": "-h -p -a -n -u --user --pass -s -i --tls-cert",
    "psql": "-h -p -U -d -v -f -c -o -F -P -R -T --host --port --username --dbname --file --command --set",
    "make": "-C -f -j -I -o -W --directory --file --makefile --jobs",
    "dbmate": "-u --url -e --env -d -s",
    "migrate": "-path -database -source --path --database --source",
    "goose": "-dir -table",
    "flyway": "",
    "liquibase": "",
    "rsync": "-e --rsh --exclude --include --exclude-from --include-from --bwlimit --timeout --port"
    " --password-file --log-file --rsync-path --files-from",
    "scp": "-i -P -F -o -c -J -l -S",
    "rclone": "--config --transfers --include --exclude --filter --max-age --min-age --bwlimit",
    "twine": "-r --repository --repository-url -u -p --config-file",
    "cargo": "-p --package --registry --token --manifest-path --index --target-dir --target -F --features -j",
    "sls": "-s --stage -r --region -f --function -c --config --aws-profile",
    "cdk": "--profile -a --app -c --context --require-approval -o --output",
    "supabase": "--project-ref --db-url --linked --workdir -p --password",
    "kamal": "-d --destination -r --roles -h --hosts -c --version",
    "mvn": "-f -P -pl --file --projects -s --settings -T",
    "gradle": "-p -P -b -x --project-dir",
}
# Programs that share the options and rows of another.
ALIASES: Mapping[str, str] = {
    "tofu": "terraform", "terragrunt": "terraform", "podman": "docker", "nerdctl": "docker", "oc": "kubectl",
    "k": "kubectl", "pnpm": "npm", "yarn": "npm", "bun": "npm", "flyctl": "fly", "serverless": "sls",
    "ansible-playbook": "ansible", "rake": "rails", "mvnw": "mvn", "gradlew": "gradle", "cnpm": "npm",
    "django-admin": "manage.py", "sequelize-cli": "sequelize", "aws2": "aws", "ntl": "netlify",
    "gsutil": "gsutil",
    "changesets": "changeset", "mariadb": "mysql", "mongo": "mongosh", "valkey-cli": "redis-cli",
}  # fmt: skip

_LIST_PR = ("gh pr list --head {-H|--head}[ -R {-R|--repo}]",
            "gh pr list --head $(git branch --show-current)[ -R {-R|--repo}]")  # fmt: skip
_STATUS = (
    r"(?:status|list|ls|show|info|get|describe|history|current|version|help|validate|plan|diff|logs?|whoami)"
)

TABLE: Mapping[str, Rows] = {
    "gh": (
        _row("pr create", "pull_request", *_LIST_PR),
        _row("pr (?:merge|close|reopen|comment|review|edit|ready|lock|unlock|update-branch|revert)",
             "pull_request", "gh pr view {1}[ -R {-R|--repo}] --json state,comments,url",
             "gh pr view --json state,comments,url"),
        _row("issue create", "issue", 'gh issue list[ -R {-R|--repo}] --search "{-t|--title}"',
             "gh issue list"),
        _row("issue (?:close|reopen|comment|edit|delete|transfer|pin|unpin|lock|unlock|develop)", "issue",
             "gh issue view {1}[ -R {-R|--repo}] --comments"),
        _row("release (?:create|delete|delete-asset|edit|upload)", "release",
             "gh release view {1}[ -R {-R|--repo}]", "gh release list"),
        _row("repo (?:create|delete|edit|fork|archive|unarchive|rename|sync)", "repository",
             "gh repo view {1}", "gh repo view"),
        _row("workflow (?:run|enable|disable)", "workflow", "gh run list --workflow {1}[ -R {-R|--repo}]"),
        _row("run (?:rerun|cancel|delete)", "workflow", "gh run view {1}[ -R {-R|--repo}]"),
        _row("(secret|variable) (?:set|delete|remove)", "settings", "gh secret list && gh variable list"),
        _row("label (?:create|edit|delete|clone)", "settings", "gh label list"),
        _row("gist (?:create|edit|delete|rename)", "publish", "gh gist list"),
        _row("(?:cache delete|ssh-key (?:add|delete)|gpg-key (?:add|delete)|repo deploy-key (?:add|delete)"
             r"|project [\w-]*(?:create|delete|edit|close|add|copy|archive)[\w-]*|ruleset \w+)",
             "settings", "the same with list"),
    ),
    "glab": (
        _row("mr (?:create|new)", "pull_request", "glab mr list --source-branch {-s|--source-branch}",
             "glab mr list --source-branch $(git branch --show-current)"),
        _row("mr (?:merge|close|reopen|note|approve|revoke|update|rebase|delete)", "pull_request",
             "glab mr view {1}", "glab mr view"),
        _row("issue (?:create|new)", "issue", 'glab issue list --search "{-t|--title}"', "glab issue list"),
        _row("issue (?:close|reopen|note|update|delete)", "issue", "glab issue view {1}"),
        _row("release (?:create|delete|upload)", "release", "glab release view {1}"),
        _row("(?:ci|pipeline) (?:run|retry|trigger|cancel|delete)", "workflow", "glab ci status"),
        _row("(?:repo|variable|label|schedule) (?:create|set|update|delete|fork|archive)", "settings",
             "the same with list"),
    ),
    "hub": (
        _row("pull-request", "pull_request", "hub pr list"),
        _row("release (?:create|edit|delete)", "release", "hub release show {1}"),
        _row("(?:issue create|create|delete|fork)", "repository", "hub api"),
    ),
    "tea": (_row("(?:pulls?|pr|issues?|releases?) (?:create|c|close|merge|reopen|edit|delete)",
    "pull_request",
                 "tea pulls list"),),
    "gt": (_row("(?:submit|s|ss|stack submit)", "pull_request", "gt log"),),
    "jira": (_row("issue (?:create|move|transition|comment|assign|edit|delete|link|clone)", "issue",
                  "jira issue view {1}", "jira issue list"),
             _row("(?:sprint|epic) (?:add|create|close|remove)", "issue", "jira sprint list")),
    "linear": (_row("issue (?:create|update|close|comment|delete|start)", "issue", "linear issue list"),),
    # --- packages
    "npm": (
        _row(r"(?:npm )?publish|-r publish|--recursive publish|workspaces? \S+ (?:npm )?publish", "publish",
             "npm view PACKAGE version"),
        _row("(?:unpublish|deprecate|undeprecate)", "publish", "npm view {1}"),
        _row(r"(?:npm )?(?:dist-tag|tag) (?:add|rm|remove)", "publish", "npm view {1} dist-tags"),
        _row(r"(?:npm )?(?:owner|access|team|token|org|hook) (?:add|rm|remove|grant|revoke|set|create|public"
             "|restricted|delete)", "settings", "npm owner ls"),
    ),
    "twine": (_row("upload", "publish", "pip index versions PACKAGE"),),
    "uv": (_row("publish", "publish", "pip index versions PACKAGE"),),
    "poetry": (_row("publish", "publish", "pip index versions PACKAGE"),),
    "flit": (_row("publish", "publish", "pip index versions PACKAGE"),),
    "hatch": (_row("publish", "publish", "pip index versions PACKAGE"),),
    "pdm": (_row("publish", "publish", "pip index versions PACKAGE"),),
    "maturin": (_row("(?:publish|upload)", "publish", "pip index versions PACKAGE"),),
    "setup.py": (_row(".*(?:upload|register)", "publish", "pip index versions PACKAGE"),),
    "anaconda": (_row("upload", "publish", "anaconda show PACKAGE"),),
    "cargo": (
        _row("publish", "publish", "cargo search {-p|--package} --limit 1", "cargo search CRATE --limit 1"),
        _row("(?:yank|owner)", "publish", "cargo search {1} --limit 1"),
        _row("release", "publish", "cargo search CRATE --limit 1"),
        _row("sqlx", "", ""),
    ),
    "gem": (_row("(?:push|yank)", "publish", "gem list --remote --exact --all GEM"),),
    "pod": (_row("(?:trunk push|repo push)", "publish", "pod trunk info {1}", "pod search"),),
    "mix": (
        _row(r"hex\.publish", "publish", "mix hex.info PACKAGE"),
        _row(r"ecto\.(?:migrate|rollback|drop|create|reset|setup|load)", "migration", "mix ecto.migrations"),
    ),
    "dart": (_row("pub publish", "publish", "the package's page on pub.dev"),),
    "flutter": (_row("pub publish", "publish", "the package's page on pub.dev"),),
    "deno": (_row("publish", "publish", "the package's page on jsr.io"),),
    "jsr": (_row("publish", "publish", "the package's page on jsr.io"),),
    "vsce": (_row("(?:publish|unpublish)", "publish", "vsce show EXTENSION"),),
    "ovsx": (_row("publish", "publish", "ovsx get EXTENSION --metadata"),),
    "nuget": (_row("(?:push|delete)", "publish", "nuget list PACKAGE"),),
    "dotnet": (
        _row("nuget (?:push|delete)", "publish", "dotnet package search PACKAGE"),
        _row("ef database (?:update|drop)", "migration", "dotnet ef migrations list"),
    ),
    "mvn": (_row(r"(?:.* )?(?:deploy|release:perform|release:prepare)(?:$| )", "publish",
                 "the artifact's versions in the repository"),),
    "gradle": (_row(r"(?:.* )?:?(?:[\w-]+:)*(?:publish(?!ToMavenLocal)\w*|uploadArchives|closeAndRelease\w*)",
                    "publish", "the artifact's versions in the repository"),),
    "goreleaser": (_row("release", "release", "gh release list"),),
    "semantic-release": (_row("", "release", "git ls-remote --tags origin"),),
    "release-it": (_row("", "release", "git ls-remote --tags origin"),),
    "np": (_row("", "publish", "npm view PACKAGE version"),),
    "lerna": (_row("publish", "publish", "npm view PACKAGE version"),),
    "changeset": (_row("publish", "publish", "npm view PACKAGE version"),),
    "nx": (_row("release(?: publish)?", "publish", "npm view PACKAGE version"),),
    "huggingface-cli": (_row("(?:upload|repo create|repo delete|delete-cache)", "publish",
                             "the repository's page"),),
    "hf": (_row("(?:upload|repo create|repo delete)", "publish", "the repository's page"),),
    "dvc": (_row("push", "upload", "dvc status -c"),),
    "gh-pages": (_row("", "deploy", "git ls-remote origin gh-pages"),),
    "surge": (_row("", "deploy", "surge list"),),
    # --- containers
    "docker": (
        _row("(?:image |manifest )?push", "image", "docker manifest inspect {1}"),
        _row("run", "container", "docker ps -a --filter name={--name}", "docker ps -a"),
        _row("create", "container", "docker ps -a --filter name={--name}", "docker ps -a"),
        _row("(?:container )?(?:start|stop|restart|kill|rm|pause|unpause|rename|update)", "container",
             "docker ps -a --filter name={1}", "docker ps -a"),
        _row("compose (?:up|down|restart|start|stop|rm|kill|run|create|pause|unpause|scale)", "container",
             "docker compose[ -f {-f|--file}][ -p {-p|--project-name}] ps -a"),
        _row("compose push", "image", "docker manifest inspect IMAGE"),
        _row("stack (?:deploy|rm|up|down)", "deploy", "docker stack ps {1}", "docker stack ls"),
        _row("service (?:create|update|rm|scale|rollback)", "deploy", "docker service ps {1}",
             "docker service ls"),
        _row("swarm (?:init|join|leave|update)", "infrastructure", "docker node ls"),
        _row("(?:volume|network) (?:rm|prune|create)|system prune|container prune|image prune|volume prune",
             "container", "docker volume ls && docker network ls"),
    ),
    "docker-compose": (
        _row("(?:up|down|restart|start|stop|rm|kill|run|create)", "container", "docker-compose ps -a"),
        _row("push", "image", "docker manifest inspect IMAGE"),
    ),
    "skopeo": (_row("(?:copy|sync|delete)", "image", "skopeo inspect {2}", "skopeo inspect {1}"),),
    "crane": (_row("(?:push|copy|cp|delete|tag)", "image", "crane digest {2}", "crane digest {1}"),),
    "oras": (_row("(?:push|copy|tag)", "image", "oras manifest fetch {1}"),),
    "buildah": (_row("push", "image", "skopeo inspect {1}"),),
    "ko": (_row("(?:apply|publish|build|resolve)", "image", "crane digest IMAGE"),),
    # --- clusters and infrastructure
    "kubectl": (
        _row("(?:apply|create|replace|patch|annotate|label|edit|expose|run|autoscale|taint)", "deploy",
             "kubectl get -f {-f|--filename}[ -n {-n|--namespace}]",
             "kubectl get -k {-k|--kustomize}[ -n {-n|--namespace}]",
             "kubectl get {1}[ -n {-n|--namespace}]", "kubectl get all[ -n {-n|--namespace}]"),
        _row("delete", "deploy", "kubectl get -f {-f|--filename}[ -n {-n|--namespace}]",
             "kubectl get {1} {2}[ -n {-n|--namespace}]", "kubectl get {1}[ -n {-n|--namespace}]"),
        _row("scale", "deploy", "kubectl get {1} {2}[ -n {-n|--namespace}]",
             "kubectl get {1}[ -n {-n|--namespace}]"),
        _row("rollout (?:restart|undo|pause|resume)", "deploy",
             "kubectl rollout status {1}/{2}[ -n {-n|--namespace}]",
             "kubectl rollout status {1}[ -n {-n|--namespace}]"),
        _row(r"set (?:image|env|resources|serviceaccount|selector)", "deploy",
             "kubectl rollout status {1}[ -n {-n|--namespace}]"),
        _row("(?:cordon|uncordon|drain)", "infrastructure", "kubectl get node {1}"),
        _row("cp", "upload", "kubectl exec POD -- ls"),
    ),
    "helm": (
        _row("(?:install|upgrade|uninstall|delete|rollback|un)", "deploy",
             "helm status {1}[ -n {-n|--namespace}]"),
        _row("push", "publish", "helm show chart {2}"),
    ),
    "helmfile": (_row("(?:apply|sync|destroy|delete)", "deploy", "helm list -A"),),
    "argocd": (_row("app (?:sync|create|delete|set|rollback|patch|terminate-op)", "deploy",
                    "argocd app get {1}"),),
    "flux": (_row("(?:reconcile|create|delete|suspend|resume|bootstrap|install|uninstall)", "deploy",
                  "flux get all"),),
    "skaffold": (_row("(?:run|deploy|delete|apply)", "deploy", "kubectl get all"),),
    "eksctl": (_row("(?:create|delete|upgrade|scale|drain)", "infrastructure", "eksctl get cluster"),),
    "nomad": (_row("(?:job run|run|job stop|stop|job dispatch|job revert)", "deploy", "nomad job status {1}",
                   "nomad status"),),
    "terraform": (
        _row("(?:apply|destroy|run-all (?:apply|destroy)|run --all (?:apply|destroy))", "infrastructure",
             "terraform plan"),
        _row("(?:import|taint|untaint|state (?:rm|mv|push)|force-unlock|workspace (?:new|delete))",
             "infrastructure", "terraform state list"),
    ),
    "pulumi": (_row("(?:up|update|destroy|refresh|import|cancel|state delete|stack rm|stack init|config set)",
                    "infrastructure", "pulumi preview[ -s {-s|--stack}]"),),
    "cdktf": (_row("(?:deploy|destroy)", "infrastructure", "cdktf diff"),),
    "cdk": (_row("(?:deploy|destroy|bootstrap|import|rollback)", "infrastructure", "cdk diff"),),
    "sam": (_row("(?:deploy|delete|sync)", "deploy", "sam list stack-outputs"),),
    "packer": (_row("build", "image", "the list of machine images"),),
    "ansible": (_row("", "infrastructure", "the same with --check --diff"),),
    "ansible-galaxy": (_row("(?:collection publish|role import)", "publish", "ansible-galaxy search"),),
    "salt": (_row("", "infrastructure", "salt with test=True"),),
    "puppet": (_row("(?:apply|agent)", "infrastructure", "puppet agent --noop"),),
    # --- platforms
    "sls": (_row("(?:deploy|remove|rollback)", "deploy", "serverless info[ --stage {-s|--stage}]"),),
    "vercel": (
        _row("(?:deploy|redeploy|promote|rollback|rm|remove|alias (?:set|rm)|env (?:add|rm|update)"
             "|domains add)",
             "deploy", "vercel ls"),
        _row(r"(?:ls|list|env|inspect|logs|whoami|login|logout|link|pull|dev|build|domains|dns|certs"
             r"|teams|switch"
             "|alias|init|projects?|git|help|bisect)", "", ""),
        _row("", "deploy", "vercel ls"),
    ),
    "netlify": (_row("(?:deploy|env:set|env:unset|sites:create|sites:delete|functions:invoke)", "deploy",
                     "netlify status && netlify api listSiteDeploys"),),
    "fly": (
        _row("(?:deploy|launch|scale|secrets (?:set|unset|import)|apps"
             " (?:create|destroy|restart)|destroy|machines?"
             " (?:start|stop|restart|destroy|run|update|clone)|postgres create|volumes?"
             " (?:create|destroy)|ips allocate\\S*|certs (?:add|remove)|restart)", "deploy",
             "fly status[ -a {-a|--app}]"),
    ),
    "heroku": (
        _row(r"(?:releases:rollback|rollback|config:(?:set|unset)|ps:(?:scale|restart|stop|resize)|container:"
             r"(?:push|release|rm)|apps:(?:create|destroy)|create|restart|maintenance:(?:on|off)"
             r"|addons:(?:create"
             r"|destroy|attach)|pg:(?:reset|push|promote|copy|backups:restore)|domains:(?:add|remove)"
             "|pipelines:promote)", "deploy", "heroku releases[ -a {-a|--app}]"),
    ),
    "railway": (_row("(?:up|deploy|redeploy|down|variables set|add|delete)", "deploy", "railway status"),),
    "render": (_row("(?:deploys create|services create|restart)", "deploy", "render deploys list"),),
    "wrangler": (
        _row(r"d1 (?:execute|migrations apply|create|delete)", "database", "wrangler d1 list"),
        _row(r"(?:deploy|publish|rollback|delete|pages (?:deploy|publish)|versions (?:upload|deploy)"
             r"|secret (?:put|delete|bulk)|kv[: ]\S+ (?:put|delete|create)|kv:\S+ \S+|r2 \S+ (?:put"
             r"|delete|create)"
             "|queues (?:create|delete))", "deploy", "wrangler deployments list"),
    ),
    "firebase": (_row(r"(?:deploy|hosting:(?:disable|clone|channel:deploy)|functions:delete|firestore:delete"
                      "|database:(?:set|update|push|remove|import))", "deploy", "firebase"
                           " hosting:sites:list"),),
    "supabase": (
        _row("(?:db (?:push|reset)|migration (?:up|repair))", "migration", "supabase migration list"),
        _row("(?:functions (?:deploy|delete)|secrets (?:set|unset)|projects (?:create|delete))", "deploy",
             "supabase functions list"),
    ),
    "eb": (_row("(?:deploy|create|terminate|swap|scale|setenv)", "deploy", "eb status"),),
    "amplify": (_row("(?:push|publish|delete)", "deploy", "amplify status"),),
    "copilot": (_row("(?:deploy|svc deploy|job deploy|env deploy|app delete|svc delete)", "deploy",
                     "copilot svc status"),),
    "cf": (_row("(?:push|delete|restart|restage|scale|set-env|bind-service)", "deploy", "cf app {1}",
    "cf apps"),),
    "kamal": (_row("(?:deploy|setup|redeploy|rollback|remove|app (?:boot|stop|start)|env push|accessory"
                   " \\w+)",
                   "deploy", "kamal details"),),
    "dokku": (_row(r"(?:ps:(?:restart|scale|stop|start|rebuild)|config:set|apps:(?:create|destroy)|git:sync)",
                   "deploy", "dokku ps:report"),),
    "cap": (_row(r"(?:\S+ )?deploy\S*", "deploy", "the release that runs there now"),),
    "doctl": (_row(rf"(?!.*\b{_STATUS}\b).*\b(?:create|delete|update|create-deployment|power-\w+|reboot"
                   rf"|resize)",
                   "infrastructure", "the same with list"),),
    "hcloud": (_row(r".*\b(?:create|delete|update|reboot|poweron|poweroff|reset|rebuild|attach\S*|detach\S*)",
                    "infrastructure", "hcloud server list"),),
    "eas": (_row("(?:submit|update|build|deploy)", "publish", "eas build:list"),),
    "expo": (_row("publish", "publish", "eas update:list"),),
    "fastlane": (_row(r"(?:\S+ )?(?:release|deploy|beta|upload\S*|supply|deliver|pilot|publish)", "publish",
                      "the store's list of builds"),),
    "modal": (_row("(?:deploy|app stop|volume put|secret create)", "deploy", "modal app list"),),
    "pm2": (_row("(?:start|restart|reload|stop|delete|kill|deploy|scale)", "service", "pm2 status"),),
    "supervisorctl": (_row("(?:start|stop|restart|reload|update|remove|add)", "service",
                           "supervisorctl status {1}", "supervisorctl status"),),
    "systemctl": (_row("(?:start|stop|restart|reload|try-restart|reload-or-restart|enable|disable|mask|unmask"
                       "|kill|isolate|reboot|poweroff)", "service", "systemctl status {1}"),),
    "service": (_row(r"\S+ (?:start|stop|restart|reload|force-reload)", "service", "service NAME status"),),
    "rc-service": (_row(r"\S+ (?:start|stop|restart|reload)", "service", "rc-service NAME status"),),
    "launchctl": (_row("(?:load|unload|start|stop|bootstrap|bootout|kickstart|enable|disable)", "service",
                       "launchctl list"),),
    "brew": (_row("services (?:start|stop|restart|run)", "service", "brew services list"),),
    "nginx": (_row("", "", ""),),
    "certbot": (_row("(?:certonly|renew|run|delete|revoke)?", "settings", "certbot certificates"),),
    "vault": (_row("(?:write|delete|kv (?:put|delete|patch|destroy)|secrets (?:enable|disable)"
                   "|policy (?:write|delete)|token (?:create|revoke)|operator \\w+)", "settings",
                   "vault kv get {2}", "vault kv get {1}"),),
    "consul": (_row("(?:kv (?:put|delete|import)|services (?:register|deregister))", "settings",
                    "consul kv get {1}"),),
    "etcdctl": (_row("(?:put|del)", "database", "etcdctl get {1}"),),
    "kafka-topics.sh": (_row("", "database", "kafka-topics.sh --list"),),
    "celery": (_row(r"(?:.* )?(?:call|control \S+|purge)", "service", "celery inspect active"),),
    "sentry-cli": (_row("(?:releases|deploys) (?:new|finalize|delete|archive|set-commits|deploys)",
                        "release", "sentry-cli releases list"),),
    "rabbitmqadmin": (_row("(?:publish|declare|delete|purge)", "database", "rabbitmqadmin list queues"),),
    "stripe": (_row(rf"(?!.*\b{_STATUS}\b)\S+ (?:create|update|delete|cancel|confirm|capture|pay|refund)"
                    rf"|trigger",
                    "payment", "stripe {0} list"),),
    "twilio": (_row(r".*(?:create|update|remove|delete)", "message", "the same with list"),),
    # --- migrations
    "alembic": (_row("(?:upgrade|downgrade|stamp)", "migration", "alembic current"),),
    "manage.py": (
        _row("(?:migrate|migrate_schemas)", "migration", "python manage.py showmigrations {1}",
             "python manage.py showmigrations"),
        _row("(?:flush|loaddata|createsuperuser|sqlflush|reset_db|collectstatic --clear|changepassword)",
             "database", "python manage.py shell"),
    ),
    "flask": (_row("db (?:upgrade|downgrade|stamp)", "migration", "flask db current"),),
    "rails": (
        _row(r"(?:\S+ )?db:(?:migrate(?!:status)\S*|rollback|forward|schema:load|structure:load|setup|reset"
             r"|prepare)", "migration", "rails db:migrate:status"),
        _row(r"db:(?:seed\S*|drop\S*|create\S*|truncate_all|purge)", "database", "rails db:version"),
    ),
    "prisma": (_row("(?:migrate (?:dev|deploy|reset|resolve)|db (?:push|seed|execute))", "migration",
                    "prisma migrate status"),),
    "flyway": (_row(r"(?:.* )?(?:migrate|clean|repair|undo|baseline)(?:$| )", "migration", "flyway info"),),
    "liquibase": (
        _row(r"(?:.* )?\S*(?:-sql|SQL)(?:$| )", "", ""),
        _row(r"(?:.* )?(?:update|rollback|drop-?all|changelog-?sync|release-?locks)\S*(?:$| )", "migration",
             "liquibase status"),
    ),
    "goose": (_row(r"(?:.* )?(?:up|down|redo|reset|up-to|up-by-one|down-to)(?:$| )", "migration",
                   "goose status"),),
    "knex": (_row(r"(?:migrate:(?:latest|rollback|up|down)|seed:run)", "migration", "knex migrate:status"),),
    "sequelize": (_row(r"db:(?:migrate(?!:status)\S*|seed:?\S*|drop|create)", "migration",
                       "sequelize db:migrate:status"),),
    "typeorm": (_row("(?:migration:(?:run|revert)|schema:(?:sync|drop))", "migration",
                     "typeorm migration:show"),),
    "mikro-orm": (_row("(?:migration:(?:up|down|fresh)|schema:(?:update|create|drop) .*--run)", "migration",
                       "mikro-orm migration:list"),),
    "drizzle-kit": (_row("(?:push|migrate)(?::\\w+)?", "migration", "drizzle-kit check"),),
    "migrate": (_row(r"(?:up|down|goto|force|drop)", "migration", "migrate version"),),
    "dbmate": (_row("(?:up|migrate|down|rollback|drop|create|load)", "migration", "dbmate status"),),
    "sqlx": (_row("(?:migrate (?:run|revert)|database (?:create|drop|reset|setup))", "migration",
                  "sqlx migrate info"),),
    "diesel": (_row("(?:migration (?:run|revert|redo)|database (?:setup|reset|drop)|setup)", "migration",
                    "diesel migration list"),),
    "atlas": (_row("(?:schema (?:apply|clean)|migrate (?:apply|down|set))", "migration",
                   "atlas migrate status"),),
    "artisan": (_row("(?:migrate(?!:status)\\S*|db:(?:seed|wipe))", "migration", "php artisan"
         " migrate:status"),),
    "console": (_row("doctrine:(?:migrations:(?:migrate|execute)|schema:(?:update|create|drop)"
                     "|fixtures:load)",
                     "migration", "bin/console doctrine:migrations:status"),),
    "phinx": (_row("(?:migrate|rollback|seed:run)", "migration", "phinx status"),),
    "sqitch": (_row("(?:deploy|revert|rebase|checkout)", "migration", "sqitch status"),),
    "hasura": (_row("(?:migrate (?:apply|delete)|metadata (?:apply|reset|clear)|seed apply|deploy)",
                    "migration", "hasura migrate status"),),
    "aerich": (_row("(?:upgrade|downgrade|init-db)", "migration", "aerich heads"),),
    "yoyo": (_row("(?:apply|rollback|reapply|mark)", "migration", "yoyo list"),),
    "tern": (_row("migrate", "migration", "tern status"),),
    "dbt": (_row("(?:run|build|seed|snapshot|run-operation|retry|clone)", "database", "dbt show"),),
    # --- storage
    "gsutil": (
        _row("(?:-m )?(?:rm|mb|rb|setmeta|acl|iam|rewrite|defacl|lifecycle|cors|versioning)", "upload",
             "gsutil ls {1}"),
    ),
    "s3cmd": (_row("(?:put|sync|del|rm|mv|mb|rb|cp|setacl)", "upload", "s3cmd ls {2}", "s3cmd ls {1}"),),
    "mc": (_row("(?:cp|mirror|rm|mv|mb|rb|put)", "upload", "mc ls {2}", "mc ls {1}"),),
    "bq": (_row("(?:load|mk|rm|cp|insert|update|extract|undelete)", "database", "bq show {1}", "bq ls"),),
    "azcopy": (_row("(?:copy|cp|sync|remove|rm|make)", "upload", "azcopy list {2}", "azcopy list {1}"),),
    "rclone": (_row("(?:copy|sync|move|copyto|moveto|delete|deletefile|purge|mkdir|rmdir|rcat)", "upload",
                    "rclone ls {2}", "rclone ls {1}"),),
    "ipfs": (_row("(?:pin add|name publish|add)", "publish", "ipfs pin ls"),),
    # --- other version control
    "hg": (_row("push", "push", "hg outgoing"),),
    "svn": (_row("(?:commit|ci|copy|cp|delete|mkdir|import|merge) ?", "push", "svn log -l 3"),),
    "jj": (_row("git push", "push", "git ls-remote origin"),),
    "sl": (_row("(?:push|pr submit)", "push", "sl log -r remote/main"),),
    "repo": (_row("upload", "pull_request", "the list of changes on the server"),),
    "arc": (_row("(?:diff|land)", "pull_request", "arc list"),),
    "p4": (_row("submit", "push", "p4 changes -m 3"),),
    # --- mail
    "sendmail": (_row("", "mail", "mailq, or the sent folder"),),
    "msmtp": (_row("", "mail", "the sent folder"),),
    "swaks": (_row("", "mail", "the recipient's inbox"),),
    "mutt": (_row("", "mail", "the sent folder"),),
    "mailx": (_row("", "mail", "mailq, or the sent folder"),),
    "mail": (_row("", "mail", "mailq, or the sent folder"),),
    "s-nail": (_row("", "mail", "mailq, or the sent folder"),),
    "ntfy": (_row("(?:publish|pub|send)", "message", "the topic's messages"),),
    "reboot": (_row("", "service", "uptime"),),
    "shutdown": (_row("", "service", "uptime"),),
}  # fmt: skip

# Verbs of cloud command lines that change something.
CLOUD_VERBS = frozenset(
    "create delete put update run start stop terminate reboot deploy publish send invoke attach"
    " detach associate disassociate modify register deregister enable disable add remove set tag"
    " untag import copy restore cancel execute transact purge rotate promote release allocate"
    " authorize revoke change apply complete abort upload reset replace accept reject purchase"
    " request assign unassign initiate schedule restart patch submit call resize move insert"
    " undelete up push grant failover swap scale migrate approve batch-write batch-execute"
    " batch-delete batch-put batch-update rollback rename redeploy regenerate renew redrive sync rm"
    " mb rb mv".split()
)
# Calls of cloud command lines that only change this machine, or nothing, though their verb says otherwise.
CLOUD_LOCAL = (
    "aws configure", "aws sso", "aws eks update-kubeconfig", "aws ecr get-login", "aws logs start-query",
    "aws logs start-live-tail", "aws athena start-query-execution", "aws sts", "aws codeartifact login",
    "gcloud config", "gcloud auth", "gcloud components", "gcloud init", ("gcloud container clusters"
         " get-credentials"),
    "gcloud topic", "az login", "az logout", "az account", "az configure", "az config", "az extension",
    "az aks get-credentials", "az acr login", "az cloud", "az upgrade", "gcloud cheat-sheet", "aws help",
)  # fmt: skip
