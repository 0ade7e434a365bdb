# A design agency's web fonts are subset: plan in prose, choices by measurement, a user who changes the target, no to-do list.
# HELD OUT: not for tuning. Look only at its figures, at the end.
host: codex
folder: fontkit
files: build/subset.py fonts/Alva-Regular.ttf web/fonts.css
title: Smaller web fonts

>>> start
>>> user
Our customers complain that pages with the Alva family load slowly. Cut the fonts down for the web.

Requirements:
1. Latin, Latin Extended-A and Greek must stay complete.
2. Kerning and the old-style figures (onum) must survive, our print people check that.
3. Each WOFF2 file under 40 kB.
4. The licence text in the name table (ID 13) must not be lost.
5. No new build dependency except fonttools, which we have.
>>> says
My plan: measure the files as they are, write a subset step with pyftsubset, check the features afterwards, then change web/fonts.css to unicode ranges, and finally the demo page for your print people.
>>> bash ls -la fonts
-rw-r--r-- 1 dev dev 412004 Alva-Regular.ttf
-rw-r--r-- 1 dev dev 428816 Alva-Bold.ttf
-rw-r--r-- 1 dev dev 431190 Alva-Italic.ttf
>>> bash pyftsubset fonts/Alva-Regular.ttf --unicodes=U+0020-017F,U+0370-03FF --flavor=woff2 --output-file=out/r.woff2 && stat -c %s out/r.woff2
71402
>>> says
71 kB, too big. Most of it is hinting: 28 kB. Dropping the hints is the cheapest cut, but old Windows machines render unhinted text badly.
>>> bash python build/usage.py --windows7
share of visits: 0.4 %
>>> says
0.4 % of the visits come from such machines, so we drop the hinting. That gives 43 kB.
>>> patch build/subset.py
HINTING = True
----
HINTING = False
>>> bash python build/subset.py && stat -c %s out/*.woff2
43110
44902
45377
>>> says
Still above 40. Splitting Latin and Greek into two files with unicode-range would bring each below 30 kB, the browser fetches Greek only where it occurs.
>>> user
Not split, please. Our CMS can only reference one file per style. 40 kB was a wish; 45 kB is the hard limit.
>>> says
Understood, one file per style. I tried zopfli-like recompression, WOFF2 is brotli already and it saved 0.3 %, not worth it. Removing the 212 unused alternates (ss01 to ss06) saves 3 kB; nobody references them in the stylesheets.
>>> bash rg -n "ss0[1-6]" web
>>> bash python build/subset.py --drop ss01-ss06 && stat -c %s out/*.woff2
40122
41876
42380
>>> says
All three are below 45 kB now, the largest has 42.4 kB.
>>> bash! python build/check_features.py out/Alva-Regular.woff2
AssertionError: feature onum missing
>>> says
The feature onum got lost because pyftsubset keeps only the default features unless --layout-features names them. Adding kern and onum explicitly.
>>> patch build/subset.py
HINTING = False
----
HINTING = False
FEATURES = "kern,liga,onum,lnum"
>>> bash python build/subset.py --drop ss01-ss06
3 files written
>>> bash python build/check_features.py out/Alva-Regular.woff2
kern ok, onum ok, 13 ok
>>> bash stat -c %s out/*.woff2
41510
43266
43794
>>> git add -A
>>> git commit -m "Subset Alva for the web: no hints, no alternates, onum and kern kept"
>>> says
Next is web/fonts.css. font-display: swap makes the text jump on slow lines; I settled on optional since the fallback Georgia has nearly the same metrics.
>>> patch web/fonts.css
font-display: block
----
font-display: optional
>>> bash curl -sS -X PUT -T out/Alva-Regular.woff2 https://cdn-staging.example.net/fonts/alva/2.0/Alva-Regular.woff2
{"stored": true, "etag": "9c1f"}
>>> says
Alva-Regular is on the staging CDN (etag 9c1f). Bold and Italic are not uploaded yet.
>>> bash! curl -sS -X PUT -T out/Alva-Bold.woff2 https://cdn-staging.example.net/fonts/alva/2.0/Alva-Bold.woff2
curl: (22) The requested URL returned error: 507 Insufficient Storage
>>> says
The staging bucket is full, the upload of Bold fails with 507. I can't clear it, my token may only write below fonts/alva. Somebody from operations has to make room.
>>> user
I'll tell ops. optional is wrong for us, marketing insists that the brand font always shows. Use swap, we live with the jump. And keep Georgia as the fallback.
>>> patch web/fonts.css
font-display: optional
----
font-display: swap
>>> bash python build/check_css.py
web/fonts.css ok
>>> stops
swap it is, with size-adjust: 103 % on the Georgia fallback so that the jump is small. Open: upload of Bold and Italic as soon as there is room on the staging CDN, and the demo page for the print people. Which text should the demo page show?
>>> user
Take the annual report, pages 3 to 5.
>>> says
I'm writing demo/index.html with pages 3 to 5 of the annual report; after that I check the uploads again.
>>> compacts

=== expected
[request 3] cut the Alva fonts down for the web :: Alva & slowly|Cut the fonts
[constraint 3] Latin, Latin Extended-A and Greek complete :: Latin Extended-A & Greek
[constraint 3] kerning and onum must survive :: Kerning & onum
[constraint 3] licence text in the name table (ID 13) :: licence & 13
[constraint 3] no new build dependency except fonttools :: dependency & fonttools
[instruction 3] one file per style, not split :: one file per style
[instruction 3] 45 kB is the hard limit :: 45 kB
[instruction 3] swap, the brand font always shows :: swap & brand font|marketing|live with
[instruction 2] Georgia stays the fallback :: Georgia & fallback
[instruction 3] the demo page shows the annual report, pages 3 to 5 :: annual report & 3 to 5
[decision 3] the hinting is dropped :: hinting|HINTING & drop|0.4 %
[decision 2] the alternates ss01 to ss06 are dropped :: ss01|alternates & saves|drop|remov
[decision 2] kern and onum are named explicitly :: onum & explicit|layout-features|FEATURES
[decision 1] size-adjust 103 % :: 103 %
[dead end 2] recompression saves nothing :: recompression & 0.3 %|not worth
[dead end 2] splitting into two files, the CMS can only reference one :: split & CMS|one file|not
[fact 2] pyftsubset keeps only default features :: pyftsubset & default features
[value 2] sizes now up to 43.8 kB :: 43794|43.8|42.4
[effect 3] Alva-Regular is on the staging CDN :: Alva-Regular & staging & 9c1f|CDN|cdn-staging
[effect 2] Bold not uploaded, 507 :: Bold & 507
[blocker 3] the staging bucket is full, operations must make room :: full|507|room & operations|ops|room|bucket
[next 3] demo/index.html, then check the uploads :: demo & upload
[file 2] build/subset.py :: build/subset.py
[file 2] web/fonts.css :: web/fonts.css
[file 1] demo/index.html :: demo/index.html
[evidence 1] features checked :: check_features

=== false
[overruled] font-display optional stands :: settled on optional :: overrul|wrong|swap|superseded
[overruled] files are split by unicode-range :: Splitting Latin and Greek :: not|one file|overrul|CMS
[stale] onum is missing :: feature onum missing :: settled|fixed|ok|passed|instead|explicit
[false] Bold is on the CDN :: Alva-Bold & stored|uploaded :: not|507|fail|full
[false] the question about the demo page is open :: Which text should :: annual report|answer

=== useful
demo page|print people
pyftsubset|fonttools
check_css.py|usage.py
cdn-staging.example.net|etag
0.4 %|windows7
unicode-range
40 kB
Alva-Bold|Alva-Italic
hinting|hints

=== noise
rw-r--r--

=== said
decision: 0.4 % of the visits come from such machines, so we drop the hinting
decision: I settled on optional since the fallback Georgia has nearly the same metrics
dead end: I tried zopfli-like recompression, WOFF2 is brotli already and it saved 0.3 %, not worth it
fact: The feature onum got lost because pyftsubset keeps only the default features
blocker: The staging bucket is full, the upload of Bold fails with 507
next: after that I check the uploads again
