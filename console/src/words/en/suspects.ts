/** Times in which vectors may be of another space, and their repair. */
import { inLanguage } from '../in-language.ts'
import { plural } from '../plural.ts'
import { whole } from '../../app/format.ts'

export const suspects = inLanguage('suspects', {
  title: 'Suspect windows',
  note: 'from the last check that passed to the one that failed: vectors returned then may be of another space',
  heads: {
    time: 'Window',
    deployment: 'Deployment',
    vectors: 'Vectors',
    requests: 'Requests',
    keys: 'Keys',
    lines: 'Batch lines',
    state: 'State',
    actions: 'Actions',
  },
  last: (time: string) => `last such vector ${time}`,
  states: {
    open: 'still outside',
    waiting: 'not repaired',
    repairing: 'repairing',
    repaired: 'repaired',
  },
  nothing: 'no vectors returned',
  unlisted: (deployment: string, time: string) =>
    `${deployment}: requests before ${time} may be missing. The ledger of their days was dropped from the database.`,
  byHand: 'list to embed again',
  progress: (done: number, all: number) => `${whole(done)} of ${whole(all)}`,
  progressHint: 'Vectors made again',
  counts: (vectors: number, keys: number) => `${plural(vectors, 'vector')}, ${plural(keys, 'key')}`,
  banner: (from: string, until: string, vectors: number, keys: number) =>
    `Between ${from} and ${until}, ${plural(vectors, 'vector')} of another space may have been returned to ${plural(keys, 'key')}.`,
  bannerTitle: 'Some vectors may be of another space.',
  bannerAction: 'View windows',
  viewRequests: (requests: number) => `View ${plural(requests, 'request')}`,
  repair: 'Repair…',
  download: 'Download list',
  downloadFailed: (max: number) =>
    `The list has more than ${whole(max)} requests. Use torana spaces repair --list.`,
  dialog: {
    title: (vectors: number, deployment: string) =>
      `Embed ${plural(vectors, 'vector')} of ${deployment} again?`,
    text: 'Torana runs the lines of ended batches again and keeps their custom_id. It does not change your index: load the results there.',
    lines: 'Embedded again',
    linesText: (vectors: number) =>
      `${plural(vectors, 'vector')} of batch lines, one new batch for each batch they came from, under its key and budget`,
    cost: 'Cost',
    costText: 'known once the batches have run; their projects pay',
    missing: 'Not repaired',
    missingText: (vectors: number) =>
      `${plural(vectors, 'vector')}: Torana does not keep the texts of requests, and files of batches expire. Embed them again yourself from the list.`,
    missingNone: 'none: Torana has every text',
    go: 'Repair',
    done: (batches: number) => `${plural(batches, 'batch', 'batches')} started`,
    handledTitle: (deployment: string) => `Mark the window of ${deployment} as handled?`,
    handledText: 'Torana has none of these texts. Download the list and embed them again from your own data.',
    handled: 'Mark as handled',
    handledDone: 'Window marked as handled',
  },
  onlyAdmins: 'Requires the Admin role.',
})
