# Operations: a mail relay moves to new machines. Terraform, Ansible, DNS, a half-done cutover, an apply that must not be repeated.
# Read once before any tuning (.37 and .90 of the items at 500 and 1,500 tokens); may be used for tuning since.
host: claude-code
folder: mail-relay
files: terraform/main.tf ansible/relay.yml ansible/inventory.ini
title: Move the mail relay to the new machines

>>> start
>>> user
Please move our outgoing mail relay from mx-old (10.4.0.9) to two new VMs. Order matters: first build relay-a and relay-b, then warm them up with 5 % of the traffic for a day, then switch DNS. Keep mx-old running for two weeks as fallback, do not destroy it. Change window is Tuesday and Thursday 20:00-22:00 UTC only. Never touch the SPF record without asking me, the marketing provider is in it. TTL of the MX records must be at 300 before the switch.
>>> says
I'll check what terraform knows about the relays first.
>>> bash terraform -chdir=terraform state list
openstack_compute_instance_v2.mx_old
openstack_networking_secgroup_v2.mail
>>> bash! terraform -chdir=terraform plan
Error: error configuring provider: auth token expired
>>> bash source ~/.openrc && terraform -chdir=terraform plan
No changes. Your infrastructure matches the configuration.
>>> says
Terraform needs `source ~/.openrc` before each run, because the token lives for an hour only.
>>> todo
> Build relay-a and relay-b with terraform
- Configure Postfix with Ansible
- Lower the TTL of the MX records to 300
- Warm up with 5 % of the traffic
- Switch DNS to the new relays
>>> edit terraform/main.tf
# relays
----
resource "openstack_compute_instance_v2" "relay" {
  for_each = toset(["relay-a", "relay-b"])
  flavor_name = "m1.small"
}
>>> bash source ~/.openrc && terraform -chdir=terraform apply -auto-approve
openstack_compute_instance_v2.relay["relay-a"]: Creation complete after 41s [id=7c1e]
openstack_compute_instance_v2.relay["relay-b"]: Creation complete after 44s [id=90fa]
Apply complete! Resources: 2 added, 0 changed, 0 destroyed.
>>> says
Both machines are up: relay-a is 10.4.2.21 and relay-b is 10.4.2.22.
>>> todo
x Build relay-a and relay-b with terraform
> Configure Postfix with Ansible
- Lower the TTL of the MX records to 300
- Warm up with 5 % of the traffic
- Switch DNS to the new relays
>>> bash! ansible-playbook -i ansible/inventory.ini ansible/relay.yml --limit relay-a
fatal: [relay-a]: UNREACHABLE! => {"msg": "Permission denied (publickey)"}
>>> bash ansible-playbook -i ansible/inventory.ini ansible/relay.yml --limit relay-a -u cloud
relay-a : ok=14 changed=9 unreachable=0 failed=0
>>> says
The image's user is `cloud`, not root. I went for Postfix with a shared Redis for the rate limits over running Haraka, since the team knows Postfix and the old maps can be copied unchanged.
>>> bash ansible-playbook -i ansible/inventory.ini ansible/relay.yml -u cloud
relay-a : ok=14 changed=0 unreachable=0 failed=0
relay-b : ok=14 changed=9 unreachable=0 failed=0
>>> bash! ssh cloud@10.4.2.21 swaks --to probe@example.net --server localhost
*** Remote host said: 454 4.7.1 Relay access denied
>>> says
Relay access is denied because mynetworks lacks 10.4.0.0/16; the old box had it in a local override that nobody had put into Ansible.
>>> edit ansible/relay.yml
    - smtpd_banner: relay
----
    - smtpd_banner: relay
    - mynetworks: 127.0.0.0/8 10.4.0.0/16
>>> bash ansible-playbook -i ansible/inventory.ini ansible/relay.yml -u cloud --tags postfix && ssh cloud@10.4.2.21 swaks --to probe@example.net --server localhost
relay-a : ok=3 changed=1 failed=0
relay-b : ok=3 changed=1 failed=0
250 2.0.0 Ok: queued as 4F1A
>>> git add -A && git commit -q -m "Relay machines and their Postfix" && git log --oneline -1
>>> user
good. Use the pdns API for the TTL, not the web console, changes there are not logged
>>> bash curl -X PATCH -H "X-API-Key: $PDNS_KEY" https://pdns.acme.io/api/v1/servers/localhost/zones/acme.io. -d @ttl300.json
{"result":"ok","changed":2}
>>> says
The TTL of both MX records is 300 now.
>>> todo
x Build relay-a and relay-b with terraform
x Configure Postfix with Ansible
x Lower the TTL of the MX records to 300
> Warm up with 5 % of the traffic
- Switch DNS to the new relays
>>> says
For the 5 % I tried weights in HAProxy's mail frontend. That was a dead end: it balances connections, and one app holds a single connection open all day. Going with a transport map that hashes the sender instead.
>>> edit ansible/relay.yml
    - mynetworks: 127.0.0.0/8 10.4.0.0/16
----
    - mynetworks: 127.0.0.0/8 10.4.0.0/16
    - transport_hash: 5
>>> bash ansible-playbook -i ansible/inventory.ini ansible/relay.yml -u cloud --tags transport --limit mx-old
mx-old : ok=2 changed=1 failed=0
>>> bash ssh cloud@10.4.2.21 'mailq | tail -1; grep -c status=sent /var/log/mail.log'
-- 0 Kbytes in 0 Requests.
412
>>> says
412 mails went through relay-a in the first hour, no deferrals. Outlook.com throttles the new addresses at 20 mails a minute until they are warm, so 5 % must not be raised before Thursday.
>>> user
Ok. Petra from the network team still has to open port 25 outbound for relay-b, ticket NET-771. Until then only relay-a counts
>>> says
Understood: relay-b waits for NET-771. Next: watch the warm-up until Thursday 20:00 UTC, then switch DNS in the window if the deferral rate stays below 1 %.
>>> bash? source ~/.openrc && terraform -chdir=terraform apply -auto-approve -target=openstack_networking_secgroup_v2.mail
>>> compacts

=== expected
[request 3] move the outgoing relay from mx-old to two new VMs :: mx-old & relay-a|VMs
[constraint 3] keep mx-old two weeks, do not destroy it :: two weeks & destroy
[constraint 3] change window Tuesday and Thursday 20:00-22:00 UTC :: Tuesday & Thursday & 20:00
[constraint 3] never touch the SPF record without asking :: SPF & ask|asking
[constraint 2] TTL at 300 before the switch :: TTL & 300
[instruction 2] the pdns API, not the web console :: pdns & console
[instruction 3] relay-b waits for port 25, ticket NET-771, Petra :: NET-771 & relay-b|Petra|port
[decision 3] Postfix with Redis over Haraka, the team knows it :: Postfix & Haraka
[decision 3] transport map that hashes the sender :: transport & hash
[dead end 3] HAProxy weights balance connections only :: HAProxy & connections|dead end|weights
[fact 2] mynetworks lacked 10.4.0.0/16 :: mynetworks & 10.4.0.0/16
[fact 3] Outlook throttles, 5 % must not be raised before Thursday :: throttle|Outlook & Thursday|20
[value 2] addresses of the new relays :: 10.4.2.21 & 10.4.2.22
[value 2] the user is cloud :: cloud & user|ansible|-u
[value 3] source ~/.openrc before terraform :: openrc
[value 2] the ansible command :: ansible-playbook & relay.yml
[effect 3] terraform apply made both machines :: terraform & apply
[effect 3] a second apply on the security group is in flight :: openstack_networking_secgroup_v2.mail & unknown|verify|check
[effect 3] the TTL was changed through the API :: pdns|PATCH & curl|ttl
[progress 3] warm-up is in work :: Warm up & 5 %
[next 3] switch DNS on Thursday if deferrals stay below 1 % :: DNS & switch & Thursday|below|next|p5
[blocker 3] NET-771 blocks relay-b :: NET-771
[worktree 1] last commit :: Relay machines
[file 1] relay.yml :: relay.yml

=== false
[false] DNS was switched :: DNS & switched|done :: not|then|next|before|[ ]|will
[settled] relay access is denied :: Relay access denied|454 :: settled|mynetworks|edited|because|fixed|instead
[settled] terraform cannot log in :: token expired :: openrc|settled|instead
[settled] ansible cannot log in :: UNREACHABLE|Permission denied :: cloud|settled|instead
[false] HAProxy balances the 5 % :: HAProxy & use|going|chosen :: dead end|instead|tried
[false] relay-b takes mail :: relay-b & warm|counts :: NET-771|wait|until|only
[false] mx-old was destroyed :: mx-old & destroyed :: 0 destroyed|not|do

=== useful
412
m1.small
mailq|swaks
454|publickey

=== noise
4F1A|ok=14

=== said
decision: I went for Postfix with a shared Redis for the rate limits over running Haraka
decision: Going with a transport map that hashes the sender instead
dead end: it balances connections, and one app holds a single connection open all day
fact: Relay access is denied because mynetworks lacks 10.4.0.0/16
constraint: Never touch the SPF record without asking me
constraint: changes there are not logged
blocker: Petra from the network team still has to open port 25 outbound for relay-b
next: Next: watch the warm-up until Thursday 20:00 UTC
