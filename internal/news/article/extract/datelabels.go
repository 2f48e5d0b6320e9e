package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dateline/internal/news/article/dates"
)

// findUpdateLabel finds the first word of a text in lower case that announces the time of an update; -1: none.
func findUpdateLabel(low string) int {
	return firstLabel(low, []string{
		"updated", "update:", "last update", "lastupdate", "cập nhật", "sửa đổi", "chỉnh sửa", "sửa lần cuối",
		"modified", "last edited", "edited on", "reviewed", "revised", "zuletzt", "aktualisiert", "geändert",
		"mis à jour", "modifié le", "actualizado", "atualizado", "aggiornato", "bijgewerkt", "обновлено", "更新", "수정",
		"업데이트",
	})
}

// findPublicationLabel is the same for words that announce the publication.
func findPublicationLabel(low string) int {
	return firstLabel(low, []string{
		"published", "publish date", "publication date", "posted", "created", "đăng", "ngày đăng",
		"xuất bản", "erstellt", "veröffentlicht", "publié", "publicado", "pubblicato", "опубликовано", "公開", "입력",
	})
}

func isUpdateLine(text string) bool {
	published, updated := splitUpdate(text)
	return updated != "" && published == ""
}

// splitUpdate splits the text of a date, such as "10:48 | Updated: 11:05", into what it
// says about the publication and what about an update.
func splitUpdate(text string) (published, updated string) {
	low := strings.ToLower(text)
	if len(low) != len(text) {
		text = low
	}
	at := findUpdateLabel(low)
	if at < 0 {
		return text, ""
	}
	published, updated = text[:at], text[at:]
	if k := findPublicationLabel(low[at:]); k > 0 && !dates.HasDigit(published) {
		published, updated = updated[k:], updated[:k]
	}
	switch {
	case !dates.HasDigit(published):
		return "", updated
	case !dates.HasDigit(updated): // 2026年3月7日 更新
		return "", text
	}
	return published, updated
}

// firstLabel returns the position of the first label that begins a word; -1: none.
func firstLabel(low string, labels []string) int {
	first := -1
	for _, l := range labels {
		i := strings.Index(low, l)
		if i < 0 || first >= 0 && i > first {
			continue
		}
		// East Asian words are compounds: 最終更新日, 최종수정.
		isEastAsian := l[0] >= 0xE3
		if before, _ := utf8.DecodeLastRuneInString(low[:i]); i == 0 || isEastAsian || !unicode.IsLetter(before) {
			first = i
		}
	}
	return first
}
