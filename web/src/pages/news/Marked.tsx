import './news.css'
import type { Schemas } from '../../api/client'

/** Text with what was looked for marked. React writes it as text, whatever it says. */
export function Marked({ fragments }: { fragments: Schemas['SearchFragment'][] }) {
  return fragments.map((f, i) =>
    f.match ? (
      <mark key={i} className="dl-mark">
        {f.text}
      </mark>
    ) : (
      <span key={i}>{f.text}</span>
    ))
}
