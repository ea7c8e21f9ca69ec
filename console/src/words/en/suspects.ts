/** Times in which vectors may be of another space. */
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
  open: 'still outside',
  ended: 'list to embed again',
  nothing: 'no vectors returned',
  unlisted: (deployment: string, time: string) =>
    `${deployment}: requests before ${time} may be missing. The ledger of their days was dropped from the database.`,
  counts: (vectors: number, keys: number) => `${plural(vectors, 'vector')}, ${plural(keys, 'key')}`,
  banner: (from: string, until: string, vectors: number, keys: number) =>
    `Between ${from} and ${until}, ${plural(vectors, 'vector')} of another space may have been returned to ${plural(keys, 'key')}.`,
  bannerTitle: 'Some vectors may be of another space.',
  bannerAction: 'View windows',
  viewRequests: (requests: number) => `View ${plural(requests, 'request')}`,
  download: 'Download list',
  downloadFailed: (max: number) =>
    `The list has more than ${whole(max)} requests. Use torana spaces suspects.`,
})
