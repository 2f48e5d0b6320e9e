import { Button, type ButtonProps } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { copyText } from '../lib/copy'
import { notifyError } from '../lib/notify'

/** A button that copies a text; `what` names it among several on a page. */
export function Copy({ value, what, ...look }: { value: string; what?: string } & ButtonProps) {
  const { t } = useTranslation()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
      aria-label={what && `${t('copy')}: ${what}`}
      {...look}
      onClick={() => void copyText(value).then(() => setCopied(true), notifyError)}
    >
      {t(copied ? 'copied' : 'copy')}
    </Button>
  )
}
