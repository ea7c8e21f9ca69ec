/** `torana schema`: prints the JSON Schema of torana.yaml, for editors. */
import { command } from '../command/command.ts'

export const schema = command({
  name: 'schema',
  summary: 'print the JSON Schema of torana.yaml',
  reach: 'none',
  isPlain: true,
  examples: ['torana schema > torana.schema.json'],
  async run({ out }) {
    const { configurationSchemaJson } = await import('#config/schema/json.ts')
    out.stdout.write(configurationSchemaJson())
    return 0
  },
})
