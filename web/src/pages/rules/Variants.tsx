import { ActionIcon, Button, Group, Input, Stack, Textarea } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

const max = 10

/** Other wordings of a template, which reposts use in turn. */
export function Variants({ texts, set }: { texts: string[]; set: (texts: string[]) => void }) {
  const { t } = useTranslation()
  return (
    <Input.Wrapper label={t('rules.variants')} description={t('rules.variantsText')} labelElement="div">
      <Stack gap="xs" mt={6}>
        {texts.map((text, i) => (
          <Group key={i} gap="xs" align="flex-start" wrap="nowrap">
            <Textarea
              aria-label={t('rules.variant', { number: i + 2 })}
              flex={1}
              autosize
              minRows={2}
              maxLength={5000}
              value={text}
              onChange={(e) => set(texts.map((was, k) => (k === i ? e.currentTarget.value : was)))}
            />
            <ActionIcon
              variant="default"
              size="lg"
              aria-label={t('rules.removeVariant', { number: i + 2 })}
              onClick={() => set(texts.filter((_, k) => k !== i))}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        {texts.length < max && (
          <Group>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={() => set([...texts, ''])}
            >
              {t('rules.addVariant')}
            </Button>
          </Group>
        )}
      </Stack>
    </Input.Wrapper>
  )
}
