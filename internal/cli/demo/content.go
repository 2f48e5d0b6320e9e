package demo

import (
	"dateline/internal/testing/crawltest"
	"dateline/platforms/bluesky"
	"dateline/platforms/discord"
	"dateline/platforms/mastodon"
	"dateline/platforms/telegram"
	"dateline/platforms/threads"
)

// text is a post of the demo.
type text struct {
	language, text string
	networks       []string
	days           int    // from today
	clock          string // local time
	inCampaign     bool
}

func planned() []text {
	return []text{
		{
			"vi", "Nước sông Thu dâng cao: hàng trăm hộ dân được di dời trong đêm. #muabao",
			[]string{mastodon.Name, telegram.Name},
			1, "07:15", true,
		},
		{
			"vi", "Giá vàng lập kỷ lục mới sáng nay. Chuyên gia khuyên gì? #kinhte",
			[]string{mastodon.Name, telegram.Name, bluesky.Name},
			1, "09:00", false,
		},
		{
			"en", "Weekend guide: three walks along the river that are open again.",
			[]string{bluesky.Name, discord.Name},
			1, "10:30", false,
		},
		{
			"vi", "Cẩm nang mùa mưa bão: 10 việc cần làm trước khi nước lên.",
			[]string{mastodon.Name, telegram.Name},
			1, "17:45", true,
		},
		{
			"vi", "Thư viện mở cửa buổi tối: học sinh có thêm chỗ tự học đến 21 giờ.",
			[]string{mastodon.Name},
			2, "08:30", false,
		},
		{
			"en", "Explainer: how the new flood warnings reach your phone, and what to do when they do.",
			[]string{bluesky.Name, discord.Name},
			2, "11:00", true,
		},
		{
			"vi", "Đội tuyển nữ vào bán kết sau hai bàn thắng trong hiệp hai. Xem lại diễn biến chính.",
			[]string{telegram.Name, discord.Name},
			2, "20:00", false,
		},
		{
			"vi", "Tuyến xe buýt điện ra sân bay chạy thử từ thứ Hai: giá vé, điểm dừng, giờ chạy.",
			[]string{mastodon.Name, telegram.Name},
			3, "07:00", false,
		},
		{
			"en", "Interview: the architect of the new library on light, noise and 12,000 books.",
			[]string{bluesky.Name},
			3, "15:00", false,
		},
		{
			"vi", "Cuối tuần này ăn gì? Năm quán bún bò mở lại sau lũ.",
			[]string{mastodon.Name, telegram.Name, discord.Name},
			4, "11:30", false,
		},
		{
			"en", "Data: coffee prices over ten years in four charts.",
			[]string{bluesky.Name, discord.Name},
			5, "09:30", false,
		},
		{
			"vi", "Hỏi đáp: thủ tục nhận hỗ trợ sau bão, ai được nhận và nhận ở đâu?",
			[]string{mastodon.Name, telegram.Name},
			5, "18:30", true,
		},
	}
}

func pending() []string {
	return []string{
		"Bộ trưởng trả lời chất vấn về đê sông Thu: 3 cam kết, 2 câu hỏi còn bỏ ngỏ.",
		"Exclusive: the dike report that the council has not published yet.",
	}
}

func drafts() []string {
	return []string{
		"Bản nháp: phỏng vấn người lái đò đã đưa 40 người qua sông trong đêm lũ",
		"Draft: a long read about the night shift at the flood control center",
	}
}

func published() []text {
	return []text{
		{
			language: "vi", networks: []string{mastodon.Name, bluesky.Name, threads.Name},
			text: "Tin nhanh: mở thêm hai điểm sơ tán ở phường ven sông, có bếp ăn và y tế.",
		},
		{
			language: "en", networks: []string{threads.Name, bluesky.Name, discord.Name},
			text: "Breaking: water levels are expected to peak at midnight. Here is what we know.",
		},
		{
			language: "vi", networks: []string{mastodon.Name, telegram.Name, threads.Name},
			text: "Đường nào còn đi được? Bản đồ ngập cập nhật lúc này.",
		},
		{
			language: "vi", networks: []string{telegram.Name, discord.Name},
			text: "Trường học thông báo nghỉ ngày mai: danh sách đầy đủ.",
		},
		{
			language: "en", networks: []string{mastodon.Name, bluesky.Name},
			text: "Photos: volunteers cook 2,000 meals in one night.",
		},
	}
}

// story is one event that all sites report, in the words of each: in English, and then in Vietnamese.
func story() []crawltest.Article {
	return []crawltest.Article{
		{
			Language: "en", Section: "Local", Author: "Daniel Okafor",
			Title: "Thu River flood forces 600 Vinh Thuy families to evacuate overnight",
			Body: "A fast rising flood on the Thu River forced 600 families in Vinh Thuy to evacuate overnight.\n\n" +
				"The river stood at 8.4 meters at the Vinh Thuy gauge at 10 p.m., 0.9 meters above alarm level " +
				"three.\n\n" +
				"Five schools in Vinh Thuy opened as shelters with kitchens, medical staff and backup power.\n\n" +
				"Soldiers and volunteers brought older people and children out of the flood zone with 40 boats.\n\n" +
				"Forecasters expect the Thu River flood to peak at midnight and to fall slowly over two days.",
		},
		{
			Language: "en", Section: "World", Author: "Maria Lopez",
			Title: "600 families leave homes in Vinh Thuy as Thu River flood nears its peak",
			Body: "About 600 families left their homes in Vinh Thuy as the Thu River flood approached its peak.\n\n" +
				"At 10 p.m. the gauge at Vinh Thuy showed 8.4 meters, almost a meter above the highest alarm " +
				"level.\n\n" +
				"Shelters opened in five schools, where volunteers cooked meals for families from the flood zone.\n\n" +
				"Rescue teams used 40 boats through the night to evacuate the low streets along the Thu River.\n\n" +
				"Schools stay closed tomorrow, and roads along the river are closed to traffic.",
		},
		{
			Language: "en", Section: "Local", Author: "Hannah Berg",
			Title: "Vinh Thuy flood: shelters open as Thu River passes alarm level three",
			Body: "Shelters opened in Vinh Thuy after the Thu River flood passed alarm level three, and 600 families " +
				"evacuated.\n\n" +
				"The Thu River reached 8.4 meters in the evening and is forecast to peak at midnight.\n\n" +
				"The largest shelter, Vinh Thuy high school, had taken in 900 people by 11 p.m.\n\n" +
				"Boats carried families out of flooded streets along the river all night.\n\n" +
				"Volunteers cooked 2,000 meals for the evacuated families.",
		},
		{
			Language: "vi", Section: "Thời sự", Author: "Nguyễn Thu Hà",
			Title: "Lũ sông Thu lên nhanh, 600 hộ dân Vĩnh Thủy sơ tán trong đêm",
			Body: "Lũ trên sông Thu lên nhanh trong đêm, 600 hộ dân ở Vĩnh Thủy phải sơ tán khỏi vùng trũng ven " +
				"sông.\n\n" +
				"Mực nước sông Thu tại trạm Vĩnh Thủy đạt 8,4 mét lúc 22 giờ, trên báo động ba 0,9 mét và còn " +
				"lên.\n\n" +
				"Chính quyền Vĩnh Thủy mở năm điểm sơ tán tại trường học, có bếp ăn, y tế và điện dự phòng cho người " +
				"dân.\n\n" +
				"Bộ đội và dân quân dùng 40 thuyền đưa người già và trẻ em vùng lũ sông Thu đến nơi an toàn.\n\n" +
				"Đài khí tượng dự báo đỉnh lũ sông Thu vào nửa đêm, sau đó nước xuống chậm trong hai ngày.",
		},
		{
			Language: "vi", Section: "Xã hội", Author: "Trần Minh Khôi",
			Title: "Vĩnh Thủy sơ tán 600 hộ dân vì lũ sông Thu vượt báo động ba",
			Body: "Vĩnh Thủy sơ tán 600 hộ dân trong đêm khi lũ sông Thu vượt báo động ba gần một mét.\n\n" +
				"Lúc 22 giờ, mực nước sông Thu ở trạm Vĩnh Thủy là 8,4 mét; đỉnh lũ được dự báo vào nửa đêm.\n\n" +
				"Năm trường học ở Vĩnh Thủy thành điểm sơ tán. Người dân vùng lũ được phát cơm, nước và chăn ấm.\n\n" +
				"Lực lượng cứu hộ có 40 thuyền, đưa trước người già, trẻ em và phụ nữ mang thai khỏi vùng trũng ven " +
				"sông.\n\n" +
				"Học sinh toàn huyện nghỉ học ngày mai, các tuyến đường ven sông Thu tạm cấm xe.",
		},
		{
			Language: "vi", Section: "Thời sự", Author: "Lê Bảo Anh",
			Title: "600 hộ dân Vĩnh Thủy rời nhà trong đêm lũ sông Thu",
			Body: "600 hộ dân Vĩnh Thủy rời nhà trong đêm khi lũ sông Thu dâng cao, đỉnh lũ dự báo vào nửa đêm.\n\n" +
				"Trạm Vĩnh Thủy đo được mực nước 8,4 mét lúc 22 giờ, trên báo động ba 0,9 mét.\n\n" +
				"Điểm sơ tán lớn nhất ở trường trung học Vĩnh Thủy đã đón 900 người dân vùng lũ.\n\n" +
				"40 thuyền cứu hộ hoạt động suốt đêm trên các khu vực ngập ven sông Thu.\n\n" +
				"Các đội tình nguyện nấu 2.000 suất ăn cho người sơ tán.",
		},
	}
}
