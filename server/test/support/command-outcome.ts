/** The outcome of a command in the process of a test, against a control port that checks no token. */
import type { Command } from '#cli/command/command.ts'
import { runCommand } from '#cli/command/run.ts'

const TOKEN = 'TORANA_ADMIN_TOKEN'

/** The environment has the token until the command ends: files that share the process have tokens of their own. */
export async function outcome(command: Command, args: string, url: string) {
  const written = { stdout: '', stderr: '' }
  const before = process.env[TOKEN]
  process.env[TOKEN] = 'a-token-that-nobody-looks-at'
  try {
    const code = await runCommand(command, [...args.split(' ').filter(Boolean), '--url', url], {
      stdout: { write: (text) => void (written.stdout += text) },
      stderr: { write: (text) => void (written.stderr += text) },
    })
    return { code, ...written }
  } finally {
    if (before === undefined) delete process.env[TOKEN]
    else process.env[TOKEN] = before
  }
}
