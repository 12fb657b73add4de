"""Words in pictures: scanned pages, photographs of receipts, figures of slides.

A picture is loaded within bounds (`pictures`), turned upright (`upright`) and read by a `Recognizer`: the models of
RapidOCR on ONNX Runtime (`rapidocr`) or the program Tesseract (`tesseract`). `order` puts its lines into reading order,
and `reading` does all of it for the readers of files.
"""
