# A bakery chain's allergen labels: a supplier changes a recipe, labels are printed once only, an inspector's rule, a plan in prose.
# HELD OUT: not for tuning. Look only at its figures, at the end.
host: claude-code
folder: label-press
files: labels/allergens.py labels/layout.zpl.j2 data/recipes.csv config/printers.yml
title: Allergen labels after the margarine change

>>> start
>>> user
Our margarine supplier (Holm) changed the recipe of article M-220: it contains lupin since 1 June. Every product that uses it needs new allergen labels in all 14 shops before Monday's delivery.

Please keep to this:
- The inspector wants allergens in bold and in the order of the regulation, not alphabetically.
- Label stock is 58 x 40 mm, 203 dpi; the text has to stay at 1.2 mm x-height or more.
- Never send a print job to the shop in Ebbing, their printer is on loan to the fair. Labels for Ebbing go by post.
- Prices on the labels must not change, accounting freezes them until the 30th.
- The recipe database (recipes.internal) is read only for us.
>>> says
I'll see which products use M-220 first.
>>> bash rg -n "M-220" data/recipes.csv | wc -l
31
>>> read labels/allergens.py
ORDER = sorted(ALLERGENS)

def allergens_of(product):
    return [name for name in ORDER if name in product.contains]
>>> says
31 recipe lines use M-220. `allergens.py` sorts alphabetically today, so the inspector's order isn't met anywhere yet.

My plan:
1. Resolve M-220 through the sub-recipes, not only the direct lines
2. Put lupin and the order of the regulation into allergens.py
3. Fit the longer text onto the 58 x 40 stock
4. Proof sheet for quality management (Ms Okafor)
5. Print to 13 shops, post Ebbing's
6. Withdraw the old label versions
>>> bash python -m labels.explode --article M-220 --depth 1
31 products
>>> bash! python -m labels.explode --article M-220 --depth 9
RecursionError: maximum recursion depth exceeded in comparison
  at labels/explode.py:44 in walk
>>> says
The recipes contain a cycle: the starter dough S-9 is fed with itself. Depth-first over the raw table can't work here.
>>> bash psql -h recipes.internal -c "select parent, child from bom where parent = child"
 S-9 | S-9
>>> edit labels/explode.py
def walk(article):
    return [walk(child) for child in children(article)]
----
def walk(article, seen=frozenset()):
    return {article}.union(*(walk(child, seen | {article}) for child in children(article) if child not in seen))
>>> bash python -m labels.explode --article M-220
47 products
>>> says
With visited articles left out it is 47 products, 16 more than the direct lines show: they get the margarine through the brioche base B-3.
>>> edit labels/allergens.py
ORDER = sorted(ALLERGENS)
----
ORDER = read_order("config/regulation_order.yml")
>>> write config/regulation_order.yml
order: [gluten, crustaceans, eggs, fish, peanuts, soy, milk, nuts, celery, mustard, sesame, sulphites, lupin, molluscs]
>>> bash! pytest -q tests/test_allergens.py
FAILED tests/test_allergens.py::test_order - AssertionError: assert ['eggs', 'gluten'] == ['gluten', 'eggs']
1 failed, 22 passed
>>> edit tests/test_allergens.py
['eggs', 'gluten']
----
['gluten', 'eggs']
>>> bash pytest -q tests
58 passed in 4.10s
>>> git checkout -q -b lupin-labels
>>> git add -A && git commit -q -m "Allergens in the order of the regulation, lupin through sub-recipes" && git log --oneline -1
>>> says
Steps 1 and 2 are done. Now the layout: with lupin the longest text is the Easter braid, 212 characters.
>>> bash! python -m labels.render --product 1188 --check
OverflowError: product 1188: text block 43.1 mm high, stock is 40 mm
>>> says
First idea: a condensed font.
>>> edit labels/layout.zpl.j2
^CF0,26
----
^CFP,22
>>> bash python -m labels.render --product 1188 --check
ok, x-height 0.98 mm
>>> says
It fits, but the condensed font comes out at 0.98 mm x-height, below the 1.2 mm. Condensed type is ruled out; I put the line back.
>>> git checkout labels/layout.zpl.j2
>>> says
Second: two columns for the ingredients, or moving the shop's address off the label. The address isn't required on loose goods as far as I can see, but I'd rather not decide that alone.
>>> ask The longest labels do not fit. Drop the shop's address from the label, or use a second label for long products?
* Drop the address: it hangs on the wall of every shop anyway
Second label: keeps everything, costs twice the stock
>>> edit labels/layout.zpl.j2
^FD{{ shop.address }}^FS
----
{# no address: decided for 58 x 40 #}
>>> bash python -m labels.render --all --check
47 of 47 ok, smallest x-height 1.24 mm
>>> says
All 47 fit at 1.24 mm. For bold I went for printing the allergens twice with one dot of offset instead of loading a bold font, because two of the older ZD410 printers have no room left for fonts.
>>> bash pytest -q tests
58 passed in 4.02s
>>> git add -A && git commit -q -m "Labels without the address, allergens in double strike" && git log --oneline -1
>>> bash python -m labels.proof --out proof/lupin.pdf
proof/lupin.pdf: 47 labels, 6 pages
>>> bash curl -sS -X POST https://dms.internal/api/inbox/quality -F file=@proof/lupin.pdf
{"document": "QM-5521", "status": "received"}
>>> stops
The proof sheet is with quality management as QM-5521 (47 labels). Layout: no address, allergens in double strike, smallest x-height 1.24 mm. I print as soon as Ms Okafor has released it.
>>> user
She released it, but with a change: "may contain" goes on a line of its own, not bold. And the sesame rolls (product 2044) are discontinued, leave them out.
>>> says
Then it's 46 labels. The trace line gets its own field.
>>> edit labels/layout.zpl.j2
{{ traces }}
----
^FD{{ traces }}^FS
>>> bash python -m labels.render --all --skip 2044 --check
46 of 46 ok, smallest x-height 1.21 mm
>>> git add -A && git commit -q -m "Traces on a line of their own, without 2044" && git log --oneline -1
>>> bash python -m labels.print --shop Almstadt --dry-run
would send 46 labels to zd410-almstadt.shops.internal:9100
>>> read config/printers.yml
Almstadt: {host: zd410-almstadt.shops.internal, model: ZD410}
Ebbing: {host: zd420-ebbing.shops.internal, model: ZD420, note: on loan}
Kirchberg: {host: zd420-kirchberg.shops.internal, model: ZD420}
>>> says
I'll send shop by shop rather than with --all, because --all has no way to leave Ebbing out.
>>> bash curl -sS -X POST http://press.internal/jobs -d '{"shop": "Almstadt", "set": "lupin-46"}'
{"job": 70311, "labels": 46}
>>> bash! curl -sS -X POST http://press.internal/jobs -d '{"shop": "Kirchberg", "set": "lupin-46"}'
{"error": "printer offline: zd420-kirchberg"}
>>> says
Almstadt is printing (job 70311). Kirchberg's printer is offline, that needs somebody in the shop to switch it on.
>>> user
Kirchberg opens again on Friday at 6, do it then. By the way: print two copies of each label everywhere, the counters have two sides.
>>> says
Almstadt has one copy so far; it needs a second run of the same set. The rest gets copies=2 from the start.
>>> bash curl -sS -X POST http://press.internal/jobs -d '{"shop": "Almstadt", "set": "lupin-46", "copies": 1}'
{"job": 70312, "labels": 46}
>>> bash curl -sS -X POST http://press.internal/jobs -d '{"shop": "Neuhaus", "set": "lupin-46", "copies": 2}'
{"job": 70313, "labels": 92}
>>> bash python -m labels.status --set lupin-46
Almstadt  done 92
Neuhaus   printing 92
11 shops pending
>>> says
It turns out that the press queue takes only two sets at a time: a third one pushes the oldest out without a word. So I wait for "done" after each shop before I send the next.
>>> bash curl -sS -X POST http://press.internal/jobs -d '{"shop": "Rosental", "set": "lupin-46", "copies": 2}'
{"job": 70314, "labels": 92}
>>> user
Holm just called: the new M-220 was delivered to us only from 9 June, not 1 June. Put "from batch 0906" on the withdrawal notice, not the date.
>>> says
OK, the withdrawal notice names batch 0906 instead of the date. I'll write it now, and print the other ten shops after it.
>>> write notices/withdrawal.md
# Withdraw the old labels
Valid for all products with M-220 from batch 0906. Throw away labels of set spring-2.
>>> git add -A && git commit -q -m "Withdrawal notice from batch 0906" && git log --oneline -1
>>> says
Left: nine shops by press, Kirchberg on Friday at 6, Ebbing's labels by post. I still don't know the address where the fair has Ebbing's printer, so the post needs an address from you. Next I'm sending Steinach.
>>> bash? curl -sS -X POST http://press.internal/jobs -d '{"shop": "Steinach", "set": "lupin-46", "copies": 2}'
>>> compacts

=== expected
[request 3] new allergen labels for all products with M-220, in all shops before Monday :: M-220 & label & lupin & Monday
[constraint 3] allergens bold, in the order of the regulation :: bold & order of the regulation
[constraint 2] 58 x 40 mm, x-height at least 1.2 mm :: 58 x 40 & 1.2 mm
[constraint 3] no print job to Ebbing, by post :: Ebbing & post & never|not|no
[constraint 3] prices on the labels must not change :: Prices & not change
[constraint 2] recipe database is read only :: recipes.internal|recipe database & read only
[instruction 3] two copies of each label everywhere :: two copies|copies=2
[instruction 3] "may contain" on a line of its own, not bold :: may contain|traces & own
[instruction 2] product 2044 left out :: 2044 & discontinued|without|leave|left out|skip
[instruction 3] notice says batch 0906, not the date :: 0906 & notice|date
[instruction 3] Kirchberg on Friday at 6 :: Kirchberg & Friday
[decision 3] the address is dropped from the label :: address & drop|no|without|off
[decision 2] double strike instead of a bold font, no room on the ZD410 :: double strike|twice|offset & font|bold
[decision 3] shop by shop, because --all cannot leave Ebbing out :: shop by shop|rather than & all
[dead end 3] condensed font is below 1.2 mm :: condensed|CFP & 0.98|1.2|ruled out|below
[dead end 1] plain recursion over the recipes, S-9 contains itself :: S-9|cycle|recursion
[fact 3] the press queue takes two sets at a time, wait for done :: queue & two|oldest|done
[fact 2] 47 products, 16 of them through B-3 :: 47 & B-3|sub-recipes|16
[value 2] 46 labels now :: 46
[value 1] smallest x-height is 1.21 mm :: 1.21
[effect 3] Almstadt is printed, 70311 and 70312 :: Almstadt & 7031
[effect 3] Neuhaus is printed, 70313 :: Neuhaus & 70313
[effect 3] Rosental was sent, 70314 :: Rosental & 70314
[effect 3] Steinach: sent? outcome unknown :: Steinach & unknown|verify|check
[effect 2] proof QM-5521 is with quality management :: QM-5521
[blocker 2] the post needs an address for Ebbing :: address & Ebbing|fair|post
[next 3] nine shops are left, Steinach first :: nine shops|Steinach|other ten
[progress 2] the proof was released :: released|Proof & done|x]
[worktree 2] branch lupin-labels :: lupin-labels
[evidence 1] 58 tests passed :: pytest|58 & pass
[file 2] the layout :: layout.zpl.j2
[file 2] the order :: allergens.py|regulation_order.yml
[file 2] the notice :: withdrawal.md

=== false
[reverted] the font is condensed now :: ^CFP|condensed :: ruled|below|back|not|0.98
[settled] recursion is unsolved :: RecursionError :: settled|fixed|edited|passed|cycle
[settled] the text does not fit :: 43.1 mm :: settled|fixed|address|passed
[settled] the order test fails :: test_order :: settled|fixed|passed|edited
[overruled] one copy is enough :: copies & 1 :: second|two|70312|done
[overruled] lupin since 1 June on the notice :: notice & 1 June :: not|0906
[false] Ebbing gets a print job :: Ebbing & sent|printing :: never|post|not|out|leave
[false] Kirchberg is printed :: Kirchberg & done|printed|printing :: Friday|offline|not|did not

=== useful
B-3|S-9|Easter braid
Okafor
ZD410|zd420-kirchberg|printer offline
press.internal/jobs|labels.status|labels.render|labels.explode
spring-2
lupin-46
1188
58 passed
proof/lupin.pdf
printers.yml|recipes.csv|explode.py|test_allergens.py

=== noise
RecursionError|maximum recursion

=== said
decision: For bold I went for printing the allergens twice with one dot of offset instead of loading a bold font
decision: I'll send shop by shop rather than with --all
dead end: Condensed type is ruled out; I put the line back
dead end: Depth-first over the raw table can't work here
constraint: print two copies of each label everywhere
constraint: Prices on the labels must not change
blocker: the post needs an address from you
fact: It turns out that the press queue takes only two sets at a time
fact: they get the margarine through the brioche base B-3
next: Next I'm sending Steinach
