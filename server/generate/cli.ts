/** docs/cli.md, from the declarations of the commands. */
import { allOptions, type Command, type Leaf, type Topic } from '#cli/command/command.ts'
import { optionRows, sentence, usageOf } from '#cli/command/help.ts'

const HEAD = `# Command line

<!-- Made from server/src/cli by npm run generate. -->

\`torana\` starts the gateway, and talks to one that runs. \`torana <command> --help\` prints the same
reference.

- **Where the node is.** On the machine of the node, commands find it by the socket in its data folder (\`TORANA_DATA_DIR\`, \`.torana\`).
  From elsewhere: \`--url https://control.example.com\` and the variable \`TORANA_ADMIN_TOKEN\`.
- **With which key.** \`torana embed\`, \`torana image\` and \`torana batch\` call the public API as an application does: with \`--key\`, the variable
  \`TORANA_KEY\`, or the demo key of the data folder, at \`--url\`, \`TORANA_BASE_URL\`, or \`HOST\` and \`PORT\` of this machine.
- **JSON.** \`--json\` prints what a list shows, and more, as JSON. Progress and results of changes go to standard error, so that a pipe gets the
  result alone.
- **Colours** and progress are for terminals. Output to a pipe is plain; \`NO_COLOR\` turns colour off.
- **Completion.** \`torana completion bash\`, \`zsh\` or \`fish\` prints a script for your shell.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | failed: the message says why. Also when \`check\` finds a problem, \`doctor\` a failure, or \`spaces probe\` a deployment outside of its space |
| 2 | the command line is wrong: an unknown command or option, a missing or an impossible value. Nothing was done |
| 3 | \`batch run\` is done, and some rows have no vector: its errors file says why |
| 130 | Ctrl-C ended \`batch run\`, which the same command takes up again; of others, a second Ctrl-C ended it at once |
`

export function cliMarkdown(topics: readonly Topic[]): string {
  const index = topics.flatMap(({ title, commands }) => [
    `| **${title}** | |`,
    ...commands.map(({ name, summary }) => `| [\`torana ${name}\`](#torana-${name}) | ${cell(summary)} |`),
  ])
  const pages = topics.flatMap(({ commands }) => commands.map(pageOf))
  return `${[HEAD, ['| command | |', '|---|---|', ...index].join('\n'), '', ...pages].join('\n')}\n`
}

function pageOf(command: Command): string {
  const title = `## torana ${command.name}\n`
  if (!('subcommands' in command)) return [title, leafPage(command, [command.name])].join('\n')
  const bare = `Without a subcommand: \`torana ${command.name} ${command.bare}\`.`
  return [
    title,
    `${sentence(command.summary)} ${bare}`,
    ...(command.more ? ['', command.more] : []),
    '',
    ...command.subcommands.map((leaf) =>
      [`### torana ${command.name} ${leaf.name}\n`, leafPage(leaf, [command.name, leaf.name])].join('\n'),
    ),
  ].join('\n')
}

/** Options of every command, described once at the top. */
const COMMON = new Set(['--help', '--json', '--url', '--token', '--key'])

function leafPage(leaf: Leaf, path: readonly string[]): string {
  const own = optionRows(allOptions(leaf)).filter(
    ([usage]) => !COMMON.has(usage.split(' ').find((word) => word.startsWith('--')) ?? ''),
  )
  const rows = [...leaf.arguments.map(({ name, says }) => [name, says] as const), ...own]
  return [
    sentence(leaf.summary),
    ...(leaf.more ? ['', leaf.more] : []),
    '',
    '```text',
    usageOf(leaf, path),
    '```',
    '',
    ...(rows.length > 0
      ? ['| | |', '|---|---|', ...rows.map(([usage, says]) => `| \`${cell(usage)}\` | ${cell(says)} |`), '']
      : []),
    ...(leaf.examples ? ['```sh', ...leaf.examples, '```', ''] : []),
  ].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
