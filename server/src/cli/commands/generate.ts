/** `torana generate`: for developers of Torana. */
import { command } from '../command/command.ts'

export const generate = command({
  name: 'generate',
  summary: 'write the generated files of this repository',
  options: { check: { says: 'compare instead, and name what differs' } },
  reach: 'none',
  isPlain: true,
  isHidden: true,
  async run({ flag, out, topics }) {
    const { generateFiles } = await import('../generate/generated-files.ts')
    return (await generateFiles(flag('check'), topics, out)) > 0 ? 1 : 0
  },
})
