/** Webhooks of projects, as configured. */

/** A receiver of events. */
export interface ConfiguredWebhook {
  readonly url: string
  readonly secret: string
  /** Undefined: all. */
  readonly events: readonly string[] | undefined
  /** The operator allows a private address and plain http. */
  readonly isPrivate: boolean
}

interface Owner {
  readonly name: string
  readonly webhooks?: readonly ConfiguredWebhook[] | undefined
}

export function webhooksOf(projects: readonly Owner[], project: string): readonly ConfiguredWebhook[] {
  return projects.find(({ name }) => name === project)?.webhooks ?? []
}

/** The webhooks of a project that ask for events of a type. */
export function webhooksFor(
  projects: readonly Owner[],
  project: string,
  type: string,
): readonly ConfiguredWebhook[] {
  return webhooksOf(projects, project).filter(({ events }) => events === undefined || events.includes(type))
}

/** Whether any project allows this address to be private. */
export function isPrivateReceiver(projects: readonly Owner[], url: string): boolean {
  return projects.some(({ webhooks = [] }) => webhooks.some((one) => one.url === url && one.isPrivate))
}
