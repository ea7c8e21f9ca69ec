/** `torana version`: what this is, for reports and scripts. */
import { readManifest } from '#package/files.ts'
import { command } from '../command/command.ts'

export const version = command({
  name: 'version',
  summary: 'print the version (also --version, -v)',
  reach: 'none',
  async run() {
    const { version: torana } = readManifest()
    const data = { torana, node: process.versions.node }
    return { data, text: `torana ${torana} (Node ${data.node})\n` }
  },
})
