#!/usr/bin/env node
// Starts the Python program `ringbolt` with the arguments of this one: the one on the PATH, otherwise through uv or
// pipx, which fetch it from PyPI in the version of this package.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { version } = require("../package.json");

const WINDOWS = process.platform === "win32";

// The path of a program on the PATH or in the places where uv, pipx and Homebrew put theirs.
function find(name) {
  const home = process.env.HOME || process.env.USERPROFILE || "";
  const more = WINDOWS ? [] : [path.join(home, ".local/bin"), "/opt/homebrew/bin", "/usr/local/bin"];
  const folders = [...(process.env.PATH || "").split(path.delimiter), ...more].filter(Boolean);
  for (const folder of folders) {
    for (const ending of WINDOWS ? [".exe", ".cmd", ".bat"] : [""]) {
      const file = path.join(folder, name + ending);
      try {
        fs.accessSync(file, fs.constants.X_OK);
      } catch {
        continue;
      }
      if (fs.statSync(file).isFile() && !isThisProgram(file)) return file;
    }
  }
  return undefined;
}

// npm puts a link, or on Windows a small script, with our own name on the PATH: calling that would never end.
function isThisProgram(file) {
  if (fs.realpathSync(file) === fs.realpathSync(__filename)) return true;
  return fs.statSync(file).size < 4096 && fs.readFileSync(file, "utf8").includes("ringbolt.js");
}

// The command that runs the program, or undefined if nothing here can.
function command() {
  const installed = find("ringbolt");
  if (installed) return [installed];
  const uvx = find("uvx");
  if (uvx) return [uvx, `ringbolt@${version}`];
  const pipx = find("pipx");
  if (pipx) return [pipx, "run", `ringbolt==${version}`];
  return undefined;
}

const words = command();
if (!words) {
  console.error(
    "Ringbolt is a Python program, and neither it nor uv or pipx is here.\n" +
      "Install uv (https://docs.astral.sh/uv/), then run this again; or: pip install ringbolt",
  );
  process.exit(127);
}
// The program may run before spawn() returns, so signals must be handled before.
let child;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child = spawn(words[0], [...words.slice(1), ...process.argv.slice(2)], { stdio: "inherit", shell: false });
child.on("error", (error) => {
  console.error(`${words[0]} could not be started: ${error.message}`);
  process.exit(126);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + (require("node:os").constants.signals[signal] || 0) : code));
