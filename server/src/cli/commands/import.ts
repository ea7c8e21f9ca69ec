/** `torana import …`: a torana.yaml from the configuration of another gateway. */
import { command, group } from '../command/command.ts'

const litellm = command({
  name: 'litellm',
  summary: 'make a torana.yaml from the configuration of a LiteLLM proxy',
  arguments: [{ name: '<config.yaml>', says: "LiteLLM's configuration file" }],
  options: {
    output: { takes: '<file>', says: 'write torana.yaml there (standard output)' },
    'secrets-file': {
      takes: '<file>',
      says: 'write secrets of the imported file there, as NAME=value, readable by you only',
    },
    force: { says: 'overwrite these files' },
  },
  reach: 'none',
  isPlain: true,
  more: 'The report goes to standard error. The page docs/moving-from-litellm.md explains each step.',
  examples: ['torana import litellm config.yaml --output torana.yaml --secrets-file .env'],
  async run({ given: [config = ''], text, flag, out }) {
    const { importFile } = await import('torana-import-litellm')
    const files = { output: text('output'), secretsFile: text('secrets-file'), force: flag('force') }
    return importFile(config, files, out)
  },
})

export const importing = group({
  name: 'import',
  bare: 'litellm',
  summary: 'make a torana.yaml from the configuration of another gateway',
  subcommands: [litellm],
})
