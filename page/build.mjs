// Builds the page: node build.mjs [--out DIR] [--check] [--test]
//   (nothing)  type-check, then write src/perceptrons/lab/static
//   --out DIR  write there instead, without the type-check
//   --check    type-check, run the tests, build in memory and compare with the stored files
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const stored = join(here, "..", "src", "perceptrons", "lab", "static");
const NAMES = ["index.html", "lab.css", "lab.js"];
const BOM = { legalComments: "none", charset: "utf8", logLevel: "warning" };

async function built() {
  const common = { bundle: true, minify: true, write: false, ...BOM };
  const js = await build({
    ...common,
    entryPoints: [join(here, "src", "main.ts")],
    format: "esm",
    target: "es2022",
    banner: { js: "// The page of the lab of perceptrons, built from page/src. It contains d3 modules, ISC, Copyright Mike Bostock." },
  });
  const css = await build({ ...common, entryPoints: [join(here, "src", "style.css")], target: "es2022" });
  return {
    "index.html": readFileSync(join(here, "src", "index.html"), "utf8"),
    "lab.css": css.outputFiles[0].text,
    "lab.js": js.outputFiles[0].text,
  };
}

function run(command, args) {
  const done = spawnSync(command, args, { cwd: here, stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}

const typed = () => run(process.execPath, [join(here, "node_modules", "typescript", "bin", "tsc"), "-p", here]);

async function tested() {
  const folder = mkdtempSync(join(tmpdir(), "lab-tests-"));
  try {
    const tests = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.ts"));
    await build({
      entryPoints: tests.map((name) => join(here, "tests", name)),
      bundle: true,
      platform: "node",
      format: "esm",
      outExtension: { ".js": ".mjs" },
      outdir: folder,
      ...BOM,
    });
    run(process.execPath, ["--test", ...readdirSync(folder).map((name) => join(folder, name))]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function said(files) {
  const size = (text) => `${(Buffer.byteLength(text) / 1000).toFixed(1)} kB (gzip ${(gzipSync(text).length / 1000).toFixed(1)} kB)`;
  return NAMES.map((name) => `${name} ${size(files[name])}`).join(", ");
}

const args = process.argv.slice(2);
const out = args.includes("--out") ? args[args.indexOf("--out") + 1] : stored;
if (!args.includes("--out")) typed();
if (args.includes("--check")) await tested();
const files = await built();
if (args.includes("--check")) {
  const other = NAMES.filter((name) => {
    try {
      return readFileSync(join(stored, name), "utf8") !== files[name];
    } catch {
      return true;
    }
  });
  if (other.length) {
    console.error(`not what page/src gives: ${other.join(", ")}; run make page`);
    process.exit(1);
  }
  console.log(`the stored page is what page/src gives: ${said(files)}`);
} else {
  mkdirSync(out, { recursive: true });
  for (const name of NAMES) writeFileSync(join(out, name), files[name]);
  console.log(said(files));
}
