import './frames.css'
import {
  IconArrowsExchange,
  IconBolt,
  IconBookmark,
  IconDots,
  IconEye,
  IconHeart,
  IconMessage,
  IconMessageCircle,
  IconRepeat,
  IconSend,
  IconShare,
  IconShare3,
  IconStar,
  IconThumbUp,
  IconUpload,
  IconWorld,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Account, Schemas } from '../../../api/client'
import { AccountAvatar } from '../../../components/Avatar'
import { format, toInstant } from '../../../lib/time'
import type { Part } from '../draft'
import { lookOf } from './looks'
import { FrameText, LinkCard, MediaGrid } from './parts'

type Segment = Schemas['SegmentPreview']

interface Props {
  target: Schemas['TargetPreview']
  account?: Account
  parts: Part[]
  when: string
  zone: string
}

const icon = (Icon: typeof IconHeart) => <Icon size={17} stroke={1.7} aria-hidden />
const actionsOf: Record<string, ReactNode[]> = {
  bluesky: [icon(IconMessageCircle), icon(IconRepeat), icon(IconHeart), icon(IconDots)],
  x: [icon(IconMessageCircle), icon(IconRepeat), icon(IconHeart), icon(IconEye), icon(IconUpload)],
  threads: [icon(IconHeart), icon(IconMessageCircle), icon(IconRepeat), icon(IconSend)],
  mastodon: [icon(IconMessage), icon(IconRepeat), icon(IconStar), icon(IconBookmark)],
  facebook: [icon(IconThumbUp), icon(IconMessageCircle), icon(IconShare3)],
  linkedin: [icon(IconThumbUp), icon(IconMessage), icon(IconArrowsExchange), icon(IconSend)],
  instagram: [icon(IconHeart), icon(IconMessageCircle), icon(IconSend), icon(IconBookmark)],
  slack: [],
  telegram: [],
  discord: [],
  ghost: [icon(IconMessage)],
  nostr: [icon(IconMessage), icon(IconRepeat), icon(IconHeart), icon(IconBolt)],
  wordpress: [icon(IconMessage)],
  zalo: [icon(IconThumbUp), icon(IconMessage), icon(IconShare)],
}
const usualActions = [icon(IconHeart), icon(IconMessageCircle), icon(IconShare)]

const isArticle = (network: string) => network === 'ghost' || network === 'wordpress' || network === 'zalo'

/** The first line is the title of an article. */
function asArticle(segment: Segment) {
  const [title = '', ...body] = segment.text.split('\n')
  return {
    segment: { ...segment, text: body.join('\n').trimStart() },
    prefix: <strong className="dlf-title">{title}</strong>,
  }
}

/** A post in the frame of its network. Its actions are decoration. */
export function Frame({ target, account, parts, when, zone }: Props) {
  const { t, i18n } = useTranslation()
  const { network } = target
  const look = lookOf(network)
  const icons = actionsOf[network] ?? usualActions
  const name = account?.name || target.handle.replace(/^@/, '').split('@')[0] || target.handle
  const handle = target.handle.startsWith('@') ? target.handle : `@${target.handle}`
  const time =
    when === ''
      ? t('compose.justNow')
      : format(
          toInstant(when, zone),
          i18n.language,
          zone,
          look.layout === 'bubble'
            ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
            : { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
        )
  const avatar = (
    <AccountAvatar
      name={name}
      network={network}
      picture={account?.avatar}
      size={look.layout === 'photo' ? 32 : 40}
      square={look.isSquare}
      glyph={false}
    />
  )
  const media = (i: number) => <MediaGrid ids={parts[i]?.attachments ?? []} network={network} />
  const card = (s: Segment, i: number) =>
    s.card && (parts[i]?.attachments ?? []).length === 0 && <LinkCard url={s.card} look={look.card} />
  const actions = icons.length > 0 && (
    <div className="dlf-actions" aria-hidden>
      {icons.map((a, i) => (
        <span key={i}>{a}</span>
      ))}
    </div>
  )
  const head = (
    <div className="dlf-head">
      <strong className="dlf-name">{name}</strong>
      {network === 'discord' || network === 'slack' ? (
        <span className="dlf-app">{t('compose.app')}</span>
      ) : (
        network !== 'threads' && look.layout === 'column' && <span className="dlf-handle">{handle}</span>
      )}
      {network === 'mastodon' && <span className="dlf-handle">{handle}</span>}
      <span className="dlf-time">
        {time}
        {(network === 'facebook' || network === 'linkedin') && <IconWorld size={12} aria-hidden />}
      </span>
    </div>
  )
  return (
    <div className="dlf" data-network={network} data-layout={look.layout}>
      {target.segments.map((s, i) => (
        <div className="dlf-post" key={i} data-threaded={i < target.segments.length - 1 || undefined}>
          {look.layout === 'photo' ? (
            <>
              <div className="dlf-top">
                {avatar}
                <strong className="dlf-name">{handle.slice(1)}</strong>
                <IconDots size={18} aria-hidden className="dlf-end" />
              </div>
              {media(i)}
              {actions}
              <FrameText segment={s} prefix={<strong>{handle.slice(1)} </strong>} />
              <span className="dlf-time">{time}</span>
            </>
          ) : look.layout === 'bubble' ? (
            <div className="dlf-bubble">
              {media(i)}
              <strong className="dlf-name">{name}</strong>
              <FrameText segment={s} />
              {card(s, i)}
              <span className="dlf-time">
                <IconEye size={13} aria-hidden /> {time}
              </span>
            </div>
          ) : look.layout === 'column' ? (
            <>
              <div className="dlf-side">{avatar}</div>
              <div className="dlf-main">
                {head}
                <FrameText segment={s} />
                {media(i)}
                {card(s, i)}
                {actions}
              </div>
            </>
          ) : (
            <>
              <div className="dlf-top">
                {avatar}
                {head}
              </div>
              <FrameText {...(isArticle(network) ? asArticle(s) : { segment: s })} />
              {media(i)}
              {card(s, i)}
              {actions}
            </>
          )}
        </div>
      ))}
    </div>
  )
}
