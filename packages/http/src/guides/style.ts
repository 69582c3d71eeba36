/** The style sheet of the documentation; the colours are those of the admin area. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1f2329; --soft: #5b6472; --line: #d9dde3; --fill: #f5f6f8; --main: #1f5fbf; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #dfe3e8; --soft: #a3acb9; --line: #3a404a; --fill: #262b33; --main: #8ab6ff; --page: #1a1d22; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; font: 1rem/1.6 system-ui, sans-serif; color: var(--text); background: var(--page); }
a { color: var(--main); text-underline-offset: .15em; }
:focus-visible { outline: 2px solid var(--main); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; z-index: 2; background: var(--page); padding: .5rem; }
header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: center;
  padding: .5rem 1.25rem; background: var(--page); border-bottom: 1px solid var(--line); font-size: .9rem; }
.home { font-weight: 600; color: inherit; text-decoration: none; }
form { display: flex; gap: .5rem; flex: 1 1 14rem; max-width: 26rem; margin-right: auto; }
input { flex: 1; min-width: 0; }
input, button { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: .3rem; padding: .25rem .6rem; }
button { background: var(--fill); cursor: pointer; }
.columns { display: flex; align-items: flex-start; max-width: 84rem; margin: 0 auto; }
.beside { position: sticky; top: 3.2rem; flex: 0 0 16rem; max-height: calc(100vh - 3.2rem); overflow: auto; padding: 1rem 1.25rem 2rem; font-size: .9rem; }
nav p { margin: 1rem 0 .25rem; font-weight: 600; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .2rem .5rem; border-radius: .3rem; color: inherit; text-decoration: none; }
nav a:hover { background: var(--fill); }
nav a[aria-current] { background: var(--fill); color: var(--main); font-weight: 600; }
.contents { display: none; }
main { flex: 1; min-width: 0; padding: 1.5rem 1.5rem 4rem; max-width: 60rem; outline: none; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.3; margin: 0 0 1rem; }
h2 { font-size: 1.3rem; line-height: 1.35; margin: 2.25rem 0 .75rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; }
h4 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--fill); padding: .1em .3em; border-radius: .25rem; }
pre { background: var(--fill); border: 1px solid var(--line); border-radius: .4rem; padding: .75rem 1rem; overflow-x: auto; overflow-wrap: normal; }
pre code { background: none; padding: 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; overflow-wrap: normal; }
th, td { border: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top; }
th { background: var(--fill); }
td { min-width: 6rem; }
img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: .4rem; }
.found { list-style: none; padding: 0; }
.found p { margin: .1rem 0 1rem; color: var(--soft); }
@media (max-width: 56rem) {
  .beside { display: none; }
  .columns { display: block; }
  .contents { display: block; padding: .5rem 1.25rem; border-bottom: 1px solid var(--line); }
  .contents a { padding: .5rem; }
  header { position: static; }
  main { padding: 1.25rem; }
}
@media print { header, .beside, .contents { display: none; } }
`;
