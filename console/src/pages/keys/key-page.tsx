import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function KeyPage() {
  return <Page title={words.keys.title} />
}
