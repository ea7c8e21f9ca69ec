import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Firewalls in front of upstreams take a call without it for a robot's, and refuse it. */
export const USER_AGENT = `torana/${version}`
