! Writes 100,000 bytes to each of out1 to out3: as a stream, as lines, as records.
program writes
  implicit none
  real(8) :: values(12500)
  integer :: i, bytes
  values = 0
  open (10, file='out1', form='unformatted', access='stream')
  write (10) values
  close (10)
  open (11, file='out2', form='formatted')
  do i = 1, 1000
    write (11, '(a99)') 'x'
  end do
  close (11)
  open (12, file='out3', form='unformatted', access='direct', recl=1000)
  do i = 1, 100
    write (12, rec=i) values(1:125)
  end do
  close (12)
  open (10, file='out2', form='unformatted', access='stream')
  read (10) values
  inquire (10, size=bytes)
  print '(i0)', bytes
end program writes
