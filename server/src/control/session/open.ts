/** The link that a node prints while there is no member. */
import type { ControlNode } from '../shared/node.ts'
import { digestOf, newSecretText } from '../shared/secret-text.ts'
import { addFirstRunLink } from './queries.ts'

/** The page on which a person becomes the first admin. Undefined: there is a member. */
export async function welcomeUrl(
  reports: ControlNode['reports'],
  consoleUrl: string,
): Promise<string | undefined> {
  const token = newSecretText()
  const isFirst = await addFirstRunLink(reports, digestOf(token))
  // A browser sends nothing behind the # to a server: the logs of a proxy never have it.
  return isFirst ? `${consoleUrl}/welcome#token=${token}` : undefined
}
