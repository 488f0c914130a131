module dynamometer

go 1.22
