from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('telemetry', '0002_lines_can_be_left_out'),
    ]

    operations = [
        migrations.AddField(
            model_name='segment',
            name='middle',
            field=models.BinaryField(null=True),
        ),
    ]
