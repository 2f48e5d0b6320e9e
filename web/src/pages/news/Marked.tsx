import './news.css'
import type { Schemas } from '../../api/client'

/** Text with highlighted matches. React escapes it. */
export function Marked({ fragments }: { fragments: Schemas['SearchFragment'][] }) {
  return fragments.map((f, i) =>
    f.match ? (
      <mark key={i} className="dl-mark">
        {f.text}
      </mark>
    ) : (
      <span key={i}>{f.text}</span>
    ),
  )
}
