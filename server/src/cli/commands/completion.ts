/** `torana completion <shell>`: a script that completes commands and options, from their declarations. */
import { anyOf } from '#config/file/problem.ts'
import { command, Misuse } from '../command/command.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completion = command({
  name: 'completion',
  summary: 'print a completion script for bash, zsh or fish',
  arguments: [{ name: '<bash|zsh|fish>', says: 'your shell' }],
  reach: 'none',
  isPlain: true,
  examples: [
    'source <(torana completion bash)',
    'torana completion zsh > "${fpath[1]}/_torana"',
    'torana completion fish > ~/.config/fish/completions/torana.fish',
  ],
  async run({ given: [shell], out, topics }) {
    const { completionScript } = await import('../command/completion-script.ts')
    out.stdout.write(
      completionScript(
        oneOf(shell),
        topics.flatMap(({ commands }) => commands),
      ),
    )
    return 0
  },
})

function oneOf(shell: string | undefined): (typeof SHELLS)[number] {
  const found = SHELLS.find((one) => one === shell)
  if (found === undefined) throw new Misuse(`expected ${anyOf(SHELLS)}, got "${shell}".`)
  return found
}
