/** `torana check [file]`: says everything that is wrong with the configuration, or what it means. */
import { command } from '../command/command.ts'

export const check = command({
  name: 'check',
  summary: 'check a torana.yaml and show what it declares',
  arguments: [
    { name: '<file>', says: 'the file (TORANA_CONFIG, torana.yaml if it exists)', isOptional: true },
  ],
  reach: 'none',
  isPlain: true,
  async run({ given: [file], out }) {
    const { checkConfiguration } = await import('../check/configuration-check.ts')
    return checkConfiguration(file, out)
  },
})
