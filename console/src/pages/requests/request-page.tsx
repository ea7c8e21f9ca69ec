import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function RequestPage() {
  return <Page title={words.requests.title} />
}
