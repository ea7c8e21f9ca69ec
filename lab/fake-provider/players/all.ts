/** Upstreams that are no scenario: they answer by themselves, and the log does not have their calls. The first part of the path names them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { playFixed } from './fixed.ts'
import { playHostile } from './hostile.ts'
import { playQuoting } from './quoting.ts'
import { playSoak } from './soak/soak.ts'

/** `words`: the first part of the path. */
type Player = (request: IncomingMessage, response: ServerResponse, words: string) => Promise<void> | void

const players: Readonly<Record<string, Player>> = {
  fixed: playFixed,
  hostile: playHostile,
  quoting: playQuoting,
  soak: playSoak,
}

export const playerTexts = {
  'fixed-wN': 'the same vector of N numbers for every text; +call-N +input-N +parallel-N: its time',
  hostile: 'misbehaves when a text asks for it: @@echo@@, @@fail@@, @@never@@, @@chunks@@, @@endless@@',
  quoting: 'repeats what it was sent in errors, headers and broken answers; every second call is right',
  soak: 'the upstreams of bench/soak, with its own records at /soak/_calls',
} as const

const PLAYED = /^\/((fixed|hostile|quoting|soak)(?:-[^/]*)?)(?=\/|$)/

/** Whether a player took the request. */
export function isPlayed(request: IncomingMessage, response: ServerResponse): boolean {
  const [, words = '', name = ''] = PLAYED.exec(request.url ?? '') ?? []
  const player = players[name]
  if (player === undefined) return false
  response.on('error', () => {})
  // A client that leaves in the middle of its request is part of these upstreams' work.
  Promise.try(player, request, response, words).catch(() => response.destroy())
  return true
}
