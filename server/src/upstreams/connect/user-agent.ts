import { readManifest } from '#package/files.ts'

/** Firewalls in front of upstreams take a call without it for a bot's, and refuse it. */
export const USER_AGENT = `torana/${readManifest().version}`
