/** `torana schema`: prints the JSON Schema of torana.yaml, for editors. */
import { configurationSchemaJson } from '#config/pages/document.ts'
import type { Output } from './output.ts'

export async function run(argv: string[], out: Output): Promise<number> {
  if (argv.length > 0) {
    out.stderr.write('usage: torana schema > torana.schema.json\n')
    return 2
  }
  out.stdout.write(configurationSchemaJson())
  return 0
}
