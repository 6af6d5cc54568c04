#!/usr/bin/env python3
"""Writes the seeds of fuzz_circles: files as spreadsheets, pandas, numpy.savetxt, programs and people write them."""
import pathlib
import struct
import sys

row = "0.5,0.25,0,0.125,1,0,0,1"
circle = '{"x":0.5,"y":0.25,"radius":0.125,"red":1,"alpha":0.5}'
header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 8), }"
seeds = {
    "csv_numbers": row + "\n" + row + ",\n",
    "csv_names": "id,X,y,radius,red,alpha,name\n7,+0.5,2.5e-1,.125,1,1,\"Vega, \"\"A0\"\"\"\n",
    "csv_mark": "\ufeff# by hand\n\nx;y;radius\n0.5;0.25;1e-400\n;;\n",
    "csv_spaces": "# alpha r x y color\n1 0.125 0.5 0.25 #f00\n",
    "csv_tabs": "color\tx\ty\tradius\r\n#ff8000\t0.5\t0.25\t0.125\r\n# comment\r\nWhite\t1\t2\t3\r",
    "csv_decimal_comma": "0,5;0,5;0,25;1,0\n",
    "csv_twice": "x,y,radius,r\n1,2,3,4\n",
    "csv_lines": "x,y,radius,name\n1,2,3,\"two\nlines\"\n1,2,nan,inf\n",
    "json_list": f"[{circle},[0.5,0.25,0,0.125,1,0,0,1]]",
    "json_object": '{"by":"me","circles":[' + circle + '],"more":{"x":[1,{}]}}',
    "json_lines": circle + "\n" + circle + "\n[1,2,0,3,0,0,0,1]\n",
    "json_colour": '[{"x":1,"y":2,"R":3,"colour":"#F00","id":[null,true,"\\u0078"]}]',
    "json_nan": '[{"x":1,"y":NaN}]',
    "json_comma": f"[{circle},]",
    "json_cut": f'[{circle},{{"x":',
    "npy": b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() +
           struct.pack("<8d", .5, .5, 0, 1, 0, 0, 0, 1),
    "zip": b"PK\3\4",
    "empty": "",
}
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, text in seeds.items():
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
