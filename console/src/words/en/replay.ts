/** Sending a request again. */
import { inLanguage } from '../in-language.ts'

export const replay = inLanguage('replay', {
  action: 'Replay',
  title: 'Replay request',
  note: 'Sends the captured input again, with your rights and the limits of the project.',
  notAllowed: 'Requires access to the playground of this project.',
  needs: 'Replay needs captured inputs.',
  turnOn: 'Turn on in Settings, Projects',
  reasons: {
    capture_off: (project: string) =>
      `${project} doesn’t capture inputs. An admin can turn it on in Settings.`,
    expired: () => 'Inputs are kept for 24 hours. This one was deleted.',
    too_large: () => 'Requests larger than 4 MB aren’t captured.',
    batch: () => 'Part of a batch. Run its lines in a new batch.',
    not_captured: () => 'The input of this request wasn’t captured.',
  },
  counting: 'Calculating the cost…',
  atMost: 'Maximum cost',
  billedTo: (project: string) => `Billed to project ${project}`,
  refused: (status: number, code: string) => `Would be refused now: ${status} ${code}. Nothing is charged.`,
  sends: 'Sends',
  size: 'Size',
  deployments: 'Deployment',
  expires: 'Input deleted',
  go: (usd: string | undefined) => (usd === undefined ? 'Replay' : `Replay for up to ${usd}`),
  compare: 'Original and replay',
  waiting: 'Waiting for the replay to reach the log…',
  what: 'Field',
  original: 'Original',
  again: 'Replay',
  error: 'Error',
  of: (id: string) => `replay of ${id}`,
})
