/** Opens the two ports of a node and its socket for commands. */
import type { FastifyInstance } from 'fastify'
import { readTls } from '#config/file/certificates.ts'
import type { Settings } from '#core/settings.ts'
import { Listeners } from '#http/listeners.ts'
import { systemClock } from '#runtime/clock.ts'
import { controlSocketOf, pathProblem, removeLeftSocket } from '#runtime/control-socket.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import type { Basics } from './basics.ts'

/** `isLate`: other processes of this node answer at the same addresses, and this one joins them when it is ready. */
export function bindListeners(
  settings: Settings,
  { isLate = false }: { readonly isLate?: boolean } = {},
): Promise<Listeners> {
  const identifiers = uuidv7Identifiers(systemClock)
  const tls = settings.tls && readTls(settings.tls)
  return Listeners.bind(settings, { isLate, tls, nextId: () => identifiers.next() })
}

/**
 * Opens the socket in the data folder, which exists and is ours by now. Where there can be no socket, the node goes on: commands
 * can use the port.
 */
export async function openSocket(
  { settings, log }: Pick<Basics, 'settings' | 'log'>,
  listeners: Listeners,
  commands: FastifyInstance,
): Promise<void> {
  const { dataDir, controlPort } = settings
  // Commands can't know the port, so they can't know the socket.
  if (controlPort === 0) return
  const path = controlSocketOf(dataDir, controlPort)
  try {
    const problem = pathProblem(path)
    if (problem !== undefined) throw new Error(problem)
    if (!listeners.joinsOthers) removeLeftSocket(path)
    await listeners.openSocket(path, commands)
  } catch (error) {
    log.warn({ err: error }, 'there is no socket for commands on this machine: they need --url')
  }
}
